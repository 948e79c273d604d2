package spec

import "kvinfra/components/internal/kube"

// Placement says on which nodes pods run.
type Placement = kube.Placement

// Spread is how far pods are kept apart.
type Spread = kube.Spread

// The spreads.
const (
	Required  = kube.Required
	Preferred = kube.Preferred
	Off       = kube.Off
)

// Toleration is Kubernetes' own: a key without a value tolerates any value.
type Toleration = kube.Toleration
