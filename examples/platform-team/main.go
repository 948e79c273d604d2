// Command shop is a team's own Pulumi program: it runs two clusters, by the
// components of kvinfra, beside the team's own objects.
package main

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() { pulumi.Run(deploy) }

// shop is what everything in this program is made with.
type shop struct {
	ctx      *pulumi.Context
	settings *config.Config
	// namespace is a plain text and no output: a HotKV server announces it in its
	// name, whose length is checked before anything is made.
	namespace string
	inside    pulumi.ResourceOption
}

func deploy(ctx *pulumi.Context) error {
	s := shop{ctx: ctx, settings: config.New(ctx, "")}
	s.namespace = s.settings.Require("namespace")

	provider, err := s.connect()
	if err != nil {
		return err
	}
	// The components make no namespace. A destroy of this one removes the volumes too.
	namespace, err := corev1.NewNamespace(ctx, "namespace", &corev1.NamespaceArgs{
		Metadata: &metav1.ObjectMetaArgs{Name: pulumi.String(s.namespace)},
	}, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	// Providers hands the provider to a component and to all that it makes.
	s.inside = pulumi.Composite(pulumi.Providers(provider), pulumi.DependsOn([]pulumi.Resource{namespace}))

	sessions, err := s.newSessions()
	if err != nil {
		return err
	}
	prefixes, err := s.newPrefixes()
	if err != nil {
		return err
	}
	return s.newApp(sessions, prefixes)
}
