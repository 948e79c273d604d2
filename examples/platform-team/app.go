package main

import (
	_ "embed"
	"strings"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv"
	"kvinfra/components/mooncake"
)

// What the team itself runs. Both programs end when their cache fails them, and
// their pods are ready when it does not.
var (
	//go:embed app/visits.sh
	visitsScript string
	//go:embed app/engine.py
	engineScript string
)

// newApp makes the team's own objects. They wait for the caches by using their
// outputs, which are known when the caches work.
func (s shop) newApp(sessions *hotkv.Cluster, prefixes *mooncake.Cluster) error {
	addresses := sessions.Addresses.ApplyT(func(all []string) string { return strings.Join(all, ",") }).(pulumi.StringOutput)
	_, err := corev1.NewConfigMap(s.ctx, "app", &corev1.ConfigMapArgs{
		Metadata: s.meta("app"),
		Data: pulumi.StringMap{
			"SESSIONS":  addresses,
			"visits.sh": pulumi.String(visitsScript),
			"engine.py": pulumi.String(engineScript),
		},
	}, s.inside)
	if err != nil {
		return err
	}

	// HotKV: addresses from an output, the password from the Secret that another names.
	if err := s.newDeployment("visits", corev1.ContainerArgs{
		Image:   pulumi.String(s.settings.Require("hotkvImage")),
		Command: pulumi.ToStringArray([]string{"bash", "/app/visits.sh"}),
		Env: corev1.EnvVarArray{
			variable("SESSIONS", &corev1.EnvVarSourceArgs{ConfigMapKeyRef: &corev1.ConfigMapKeySelectorArgs{
				Name: pulumi.String("app"), Key: pulumi.String("SESSIONS"),
			}}),
			variable("REDISCLI_AUTH", &corev1.EnvVarSourceArgs{SecretKeyRef: &corev1.SecretKeySelectorArgs{
				Name: sessions.SecretName, Key: sessions.SecretKey,
			}}),
		},
		Resources: resources("64Mi"),
	}); err != nil {
		return err
	}

	// Mooncake: one ConfigMap has all that a client must know; each pod adds its address.
	return s.newDeployment("engine", corev1.ContainerArgs{
		Image:   pulumi.String(s.settings.Require("mooncakeImage")),
		Command: pulumi.ToStringArray([]string{"python3", "-u", "/app/engine.py"}),
		EnvFrom: corev1.EnvFromSourceArray{&corev1.EnvFromSourceArgs{
			ConfigMapRef: &corev1.ConfigMapEnvSourceArgs{Name: prefixes.ClientConfigMap},
		}},
		Env: corev1.EnvVarArray{
			variable("LOCAL_HOSTNAME", &corev1.EnvVarSourceArgs{FieldRef: &corev1.ObjectFieldSelectorArgs{FieldPath: pulumi.String("status.podIP")}}),
			&corev1.EnvVarArgs{Name: pulumi.String("MC_TCP_BIND_ADDRESS"), Value: pulumi.String("$(LOCAL_HOSTNAME)")},
		},
		Resources: resources("256Mi"),
	})
}

// newDeployment makes one pod that runs a script of the ConfigMap. The script makes
// /tmp/ready when it got something from its cache.
func (s shop) newDeployment(name string, container corev1.ContainerArgs) error {
	container.Name = pulumi.String(name)
	container.VolumeMounts = corev1.VolumeMountArray{
		&corev1.VolumeMountArgs{Name: pulumi.String("app"), MountPath: pulumi.String("/app"), ReadOnly: pulumi.Bool(true)},
		&corev1.VolumeMountArgs{Name: pulumi.String("tmp"), MountPath: pulumi.String("/tmp")},
	}
	container.ReadinessProbe = &corev1.ProbeArgs{
		Exec:          &corev1.ExecActionArgs{Command: pulumi.ToStringArray([]string{"test", "-e", "/tmp/ready"})},
		PeriodSeconds: pulumi.Int(2),
	}
	container.SecurityContext = &corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false),
		Capabilities:             &corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
		ReadOnlyRootFilesystem:   pulumi.Bool(true),
	}
	labels := pulumi.StringMap{"app": pulumi.String(name)}
	_, err := appsv1.NewDeployment(s.ctx, name, &appsv1.DeploymentArgs{
		Metadata: s.meta(name),
		Spec: &appsv1.DeploymentSpecArgs{
			Selector: &metav1.LabelSelectorArgs{MatchLabels: labels},
			Template: &corev1.PodTemplateSpecArgs{
				Metadata: &metav1.ObjectMetaArgs{Labels: labels},
				Spec: &corev1.PodSpecArgs{
					AutomountServiceAccountToken: pulumi.Bool(false),
					EnableServiceLinks:           pulumi.Bool(false), // a Service of the right name would set one of Mooncake's variables
					// They have nothing to finish, and as process 1 do not hear SIGTERM.
					TerminationGracePeriodSeconds: pulumi.Int(1),
					SecurityContext: &corev1.PodSecurityContextArgs{
						RunAsNonRoot: pulumi.Bool(true), RunAsUser: pulumi.Int(1000),
						SeccompProfile: &corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")},
					},
					Containers: corev1.ContainerArray{container},
					Volumes: corev1.VolumeArray{
						&corev1.VolumeArgs{Name: pulumi.String("app"), ConfigMap: &corev1.ConfigMapVolumeSourceArgs{Name: pulumi.String("app")}},
						&corev1.VolumeArgs{Name: pulumi.String("tmp"), EmptyDir: &corev1.EmptyDirVolumeSourceArgs{}},
					},
				},
			},
		},
	}, s.inside)
	return err
}

func (s shop) meta(name string) *metav1.ObjectMetaArgs {
	return &metav1.ObjectMetaArgs{Name: pulumi.String(name), Namespace: pulumi.String(s.namespace)}
}

func variable(name string, from *corev1.EnvVarSourceArgs) *corev1.EnvVarArgs {
	return &corev1.EnvVarArgs{Name: pulumi.String(name), ValueFrom: from}
}

func resources(memory string) *corev1.ResourceRequirementsArgs {
	return &corev1.ResourceRequirementsArgs{
		Requests: pulumi.StringMap{"cpu": pulumi.String("10m"), "memory": pulumi.String(memory)},
		Limits:   pulumi.StringMap{"memory": pulumi.String(memory)},
	}
}
