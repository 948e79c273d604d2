package mooncake

import (
	"strconv"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

// infinibandDir holds the device files of a node's RDMA NICs.
const infinibandDir = "/dev/infiniband"

// joinFabric gives a store's pod what its fabric needs beyond the pod network.
func (b *builder) joinFabric(pod *corev1.PodSpecArgs) {
	container := pod.Containers.(corev1.ContainerArray)[0].(*corev1.ContainerArgs)
	switch b.spec.Fabric.Mode {
	case spec.RDMAHostNetwork:
		pinMemory(pod, container)
		b.joinHostNetwork(pod, container)
	case spec.RDMADevicePlugin:
		pinMemory(pod, container)
		plugin := b.spec.Fabric.DevicePlugin
		resources := container.Resources.(*corev1.ResourceRequirementsArgs)
		for _, amounts := range []pulumi.StringMapInput{resources.Requests, resources.Limits} {
			amounts.(pulumi.StringMap)[plugin.Resource] = pulumi.String(strconv.Itoa(plugin.Count))
		}
	}
}

// pinMemory allows the store to lock its segment in memory, without which no NIC
// can write into it. The capabilities work only for root.
func pinMemory(pod *corev1.PodSpecArgs, container *corev1.ContainerArgs) {
	pod.SecurityContext = &corev1.PodSecurityContextArgs{
		RunAsUser:      pulumi.Int(0),
		SeccompProfile: &corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")},
	}
	locked := objects.Locked()
	locked.Capabilities.(*corev1.CapabilitiesArgs).Add = pulumi.ToStringArray([]string{"IPC_LOCK", "SYS_RESOURCE"})
	container.SecurityContext = locked
}

// joinHostNetwork runs the pod in the node's network, where the NICs are. Its
// ports are then the node's: no two stores of any cluster on one node.
func (b *builder) joinHostNetwork(pod *corev1.PodSpecArgs, container *corev1.ContainerArgs) {
	if b.spec.Fabric.Privileged { // which includes every capability
		container.SecurityContext = &corev1.SecurityContextArgs{
			Privileged:             pulumi.Bool(true),
			ReadOnlyRootFilesystem: pulumi.Bool(true),
		}
	}
	pod.HostNetwork = pulumi.Bool(true)
	pod.DnsPolicy = pulumi.String("ClusterFirstWithHostNet")
	volumes, _ := pod.Volumes.(corev1.VolumeArray)
	pod.Volumes = append(volumes, &corev1.VolumeArgs{
		Name: pulumi.String("infiniband"),
		HostPath: &corev1.HostPathVolumeSourceArgs{
			Path: pulumi.String(infinibandDir),
			Type: pulumi.String("Directory"), // a node without RDMA: the pod does not start and says why
		},
	})
	mounts, _ := container.VolumeMounts.(corev1.VolumeMountArray)
	container.VolumeMounts = append(mounts, objects.Mount("infiniband", infinibandDir))
	pod.Affinity = &corev1.AffinityArgs{PodAntiAffinity: &corev1.PodAntiAffinityArgs{
		RequiredDuringSchedulingIgnoredDuringExecution: corev1.PodAffinityTermArray{&corev1.PodAffinityTermArgs{
			TopologyKey: pulumi.String("kubernetes.io/hostname"),
			LabelSelector: &metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{
				"app.kubernetes.io/name":      pulumi.String("mooncake"),
				"app.kubernetes.io/component": pulumi.String("store"),
			}},
			NamespaceSelector: &metav1.LabelSelectorArgs{},
		}},
	}}
}
