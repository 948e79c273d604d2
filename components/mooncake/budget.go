package mooncake

import (
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"

	"kvinfra/components/internal/kube"
	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

// createDisruptionBudgets lets a drain of nodes take one store at a time, so that
// each finds the others to move its keys to, and one of several masters.
func (b *builder) createDisruptionBudgets() error {
	if err := b.createBudget(spec.StoreName(b.name), b.store(), b.spec.Store.DisruptionBudget); err != nil {
		return err
	}
	if !b.spec.HighAvailability.Enabled() {
		return nil // a budget would keep the one master's node from being drained
	}
	return b.createBudget(b.spec.MasterName(b.name), b.master(), kube.Budget{MaxUnavailable: 1})
}

func (b *builder) createBudget(name string, part objects.Part, budget kube.Budget) error {
	if budget.Off {
		return nil
	}
	_, err := policyv1.NewPodDisruptionBudget(b.ctx, name, objects.Budget(b.owner, name, part, budget), b.child())
	return err
}
