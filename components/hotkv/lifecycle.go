package hotkv

import (
	"fmt"
	"strconv"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
)

func (b *builder) lifecycleName() string { return b.name + "-lifecycle" }

// createLifecycle keeps the scripts that Kubernetes runs in a server's pod.
func (b *builder) createLifecycle() (err error) {
	b.lifecycle, err = corev1.NewConfigMap(b.ctx, b.lifecycleName(), &corev1.ConfigMapArgs{
		Metadata: b.owner.Meta(b.lifecycleName(), b.server()),
		Data:     pulumi.ToStringMap(b.spec.LifecycleScripts(b.name)),
	}, b.child())
	return err
}

// startup holds the other probes back while the server loads its data.
func (b *builder) startup() *corev1.ProbeArgs {
	// The client exits 0 on an error reply, and a server that still loads answers with
	// one: only PONG counts.
	probe := run("bash", "-c", fmt.Sprintf(`[ "$(%s -e ping)" = PONG ]`, b.spec.Server.Programs().CLI))
	// Often, because everything else waits for it: the next pod of a rolling update too.
	probe.PeriodSeconds = pulumi.Int(1)
	probe.FailureThreshold = pulumi.Int(b.spec.StartSeconds())
	return probe
}

func (b *builder) readiness() *corev1.ProbeArgs {
	command := []string{"bash", "/scripts/" + spec.ReadyFile, b.spec.Server.Programs().CLI}
	if b.spec.Storage.None {
		command = append(command, settledMarker)
	}
	probe := run(command...)
	probe.FailureThreshold = pulumi.Int(1)
	return probe
}

func run(command ...string) *corev1.ProbeArgs {
	return &corev1.ProbeArgs{
		Exec:           &corev1.ExecActionArgs{Command: pulumi.ToStringArray(command)},
		PeriodSeconds:  pulumi.Int(2),
		TimeoutSeconds: pulumi.Int(3), // on a busy node a client may take longer than 1 s to start
	}
}

// liveness looks at the port only: whatever more it asked for, a server that is
// busy for long would fail it and lose its work in a restart.
func liveness() *corev1.ProbeArgs {
	return &corev1.ProbeArgs{
		TcpSocket:        &corev1.TCPSocketActionArgs{Port: pulumi.String("client")},
		PeriodSeconds:    pulumi.Int(10),
		FailureThreshold: pulumi.Int(6),
	}
}

// handover lets a primary stop only after a replica took its place, or there is
// none to wait for.
func (b *builder) handover() *corev1.LifecycleHandlerArgs {
	return &corev1.LifecycleHandlerArgs{Exec: &corev1.ExecActionArgs{Command: pulumi.ToStringArray([]string{
		"bash", "/scripts/" + spec.HandoverFile, b.spec.Server.Programs().CLI, strconv.Itoa(b.spec.HandoverSeconds()),
	})}}
}

// boundedLookups limits how long a name that nobody answers for stops the server:
// it looks its peers' names up between two commands, ten times a second.
func boundedLookups() *corev1.PodDNSConfigArgs {
	option := func(name, value string) *corev1.PodDNSConfigOptionArgs {
		return &corev1.PodDNSConfigOptionArgs{Name: pulumi.String(name), Value: pulumi.String(value)}
	}
	return &corev1.PodDNSConfigArgs{Options: corev1.PodDNSConfigOptionArray{option("timeout", "1"), option("attempts", "2")}}
}
