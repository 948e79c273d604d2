package objects

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/kube"
)

// Pod returns a pod without any privilege that runs as user and group id. The
// API of Kubernetes is none of its business, and the variables that Kubernetes
// sets for each Service of the namespace collide with those of the servers.
func Pod(id int, containers ...corev1.ContainerInput) *corev1.PodSpecArgs {
	return &corev1.PodSpecArgs{
		AutomountServiceAccountToken: pulumi.Bool(false),
		EnableServiceLinks:           pulumi.Bool(false),
		SecurityContext: &corev1.PodSecurityContextArgs{
			RunAsNonRoot:   pulumi.Bool(true),
			RunAsUser:      pulumi.Int(id),
			RunAsGroup:     pulumi.Int(id),
			FsGroup:        pulumi.Int(id),
			SeccompProfile: &corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")},
		},
		Containers: corev1.ContainerArray(containers),
	}
}

// JobPod is Pod for a Job or CronJob: it runs once and stays away from service
// meshes, whose proxies never end and would keep the Job from completing.
func JobPod(o Owner, p Part, id int, containers ...corev1.ContainerInput) *corev1.PodTemplateSpecArgs {
	spec := Pod(id, containers...)
	spec.RestartPolicy = pulumi.String("Never")
	return Template(o, p, spec, pulumi.StringMap{
		"sidecar.istio.io/inject": pulumi.String("false"),
		"linkerd.io/inject":       pulumi.String("disabled"),
	})
}

// Container returns c with what every container has. The last lines of its log are
// the reason of its end, which the engine shows.
func Container(c corev1.ContainerArgs) *corev1.ContainerArgs {
	c.ImagePullPolicy = pulumi.String("IfNotPresent")
	c.SecurityContext = Locked()
	c.TerminationMessagePolicy = pulumi.String("FallbackToLogsOnError")
	return &c
}

// Locked returns the security context of a container that needs nothing.
func Locked() *corev1.SecurityContextArgs {
	return &corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false),
		ReadOnlyRootFilesystem:   pulumi.Bool(true),
		Capabilities:             &corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
	}
}

// Resources returns r for a container.
func Resources(r kube.Resources) *corev1.ResourceRequirementsArgs {
	return &corev1.ResourceRequirementsArgs{Requests: amounts(r.Requests), Limits: amounts(r.Limits)}
}

func amounts(a kube.Amounts) pulumi.StringMap {
	m := pulumi.StringMap{}
	if a.CPU != "" {
		m["cpu"] = pulumi.String(a.CPU)
	}
	if a.Memory != "" {
		m["memory"] = pulumi.String(a.Memory)
	}
	return m
}

// Env returns an environment variable with a value.
func Env(name, value string) *corev1.EnvVarArgs {
	return &corev1.EnvVarArgs{Name: pulumi.String(name), Value: pulumi.String(value)}
}

// EnvFromField returns a variable that holds a field of the pod.
func EnvFromField(name, path string) *corev1.EnvVarArgs {
	return &corev1.EnvVarArgs{Name: pulumi.String(name), ValueFrom: &corev1.EnvVarSourceArgs{
		FieldRef: &corev1.ObjectFieldSelectorArgs{FieldPath: pulumi.String(path)},
	}}
}

// EnvFromSecret returns a variable that holds one key of a Secret.
func EnvFromSecret(name, secret, key string) *corev1.EnvVarArgs {
	return &corev1.EnvVarArgs{Name: pulumi.String(name), ValueFrom: &corev1.EnvVarSourceArgs{
		SecretKeyRef: &corev1.SecretKeySelectorArgs{Name: pulumi.String(secret), Key: pulumi.String(key)},
	}}
}

// Port returns a named port of a container.
func Port(name string, number int) *corev1.ContainerPortArgs {
	return &corev1.ContainerPortArgs{Name: pulumi.String(name), ContainerPort: pulumi.Int(number)}
}

// ServicePort returns a port of a Service that leads to the container's port of
// the same name.
func ServicePort(name string, number int) *corev1.ServicePortArgs {
	return &corev1.ServicePortArgs{Name: pulumi.String(name), Port: pulumi.Int(number), TargetPort: pulumi.String(name)}
}

// PullSecrets returns references to Secrets, and no empty list in the pod for none.
func PullSecrets(names []string) corev1.LocalObjectReferenceArrayInput {
	if len(names) == 0 {
		return nil
	}
	var references corev1.LocalObjectReferenceArray
	for _, name := range names {
		references = append(references, &corev1.LocalObjectReferenceArgs{Name: pulumi.String(name)})
	}
	return references
}

// ConfigMapVolume returns a volume with the files of a ConfigMap.
func ConfigMapVolume(volume, configMap string) *corev1.VolumeArgs {
	return &corev1.VolumeArgs{
		Name:      pulumi.String(volume),
		ConfigMap: &corev1.ConfigMapVolumeSourceArgs{Name: pulumi.String(configMap)},
	}
}

// Mount returns the place of a volume in a container.
func Mount(volume, path string) *corev1.VolumeMountArgs {
	return &corev1.VolumeMountArgs{Name: pulumi.String(volume), MountPath: pulumi.String(path)}
}
