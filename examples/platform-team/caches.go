package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv"
	"kvinfra/components/mooncake"
)

// newSessions makes the HotKV cluster for the shop's sessions.
func (s shop) newSessions() (*hotkv.Cluster, error) {
	c, err := hotkv.NewCluster(s.ctx, "sessions", &hotkv.ClusterArgs{Spec: hotkv.Spec{
		Namespace: s.namespace,
		Image:     s.settings.Require("hotkvImage"),
		Server:    "valkey",
		Storage:   hotkv.Storage{Size: "1Gi"},
		Resources: hotkv.Resources{Requests: hotkv.Amounts{CPU: "20m"}, Limits: hotkv.Amounts{Memory: "128Mi"}},
	}}, s.inside)
	if err != nil {
		return nil, err
	}
	s.ctx.Export("sessions", pulumi.Map{
		"addresses":  c.Addresses,
		"secretName": c.SecretName,
		"secretKey":  c.SecretKey,
		"password":   c.Password, // "[secret]" to who does not ask with --show-secrets
	})
	return c, nil
}

// newPrefixes makes the Mooncake Store for the prefixes that inference shares.
func (s shop) newPrefixes() (*mooncake.Cluster, error) {
	small := mooncake.Resources{Requests: mooncake.Amounts{CPU: "20m"}}
	c, err := mooncake.NewCluster(s.ctx, "prefixes", &mooncake.ClusterArgs{Spec: mooncake.Spec{
		Namespace: s.namespace,
		Image:     s.settings.Require("mooncakeImage"),
		Version:   "0.3.13.post1",
		Master:    mooncake.Master{Resources: small},
		Store:     mooncake.Store{Replicas: 2, SegmentSize: "64Mi", LocalBufferSize: "16Mi", Resources: small},
		Fabric:    mooncake.Fabric{Mode: mooncake.TCP},
	}}, s.inside)
	if err != nil {
		return nil, err
	}
	s.ctx.Export("prefixes", pulumi.Map{
		"masterAddress":   c.MasterAddress,
		"metadataServer":  c.MetadataServer,
		"protocol":        c.Protocol,
		"version":         c.Version,
		"clientConfigMap": c.ClientConfigMap,
	})
	return c, nil
}
