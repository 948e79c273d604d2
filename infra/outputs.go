package main

import (
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv"
	"kvinfra/components/mooncake"
)

// hotkvOutputs is what a client of the cluster has to know.
func hotkvOutputs(s hotkv.Spec, c *hotkv.Cluster) pulumi.Map {
	return pulumi.Map{
		"namespace":   pulumi.String(s.Namespace),
		"addresses":   c.Addresses,
		"serviceName": c.ServiceName,
		"secretName":  c.SecretName,
		"secretKey":   c.SecretKey,
		"password":    c.Password,
		"server":      pulumi.String(s.Server),
		"topology": pulumi.Map{
			"layout":             pulumi.String(s.Layout),
			"primaries":          pulumi.Int(s.Primaries),
			"replicasPerPrimary": pulumi.Int(s.ReplicasPerPrimary),
		},
	}
}

// mooncakeOutputs is what a client of the store has to know, and over which network
// it has to come.
func mooncakeOutputs(s mooncake.Spec, c *mooncake.Cluster) (pulumi.Map, error) {
	fabric, err := settings(s.Fabric)
	if err != nil {
		return nil, err
	}
	return pulumi.Map{
		"namespace":            pulumi.String(s.Namespace),
		"masterAddress":        c.MasterAddress,
		"metadataServer":       c.MetadataServer,
		"protocol":             c.Protocol,
		"clusterId":            c.ClusterID,
		"version":              c.Version,
		"clientVariables":      c.ClientVariables,
		"clientConfigMap":      c.ClientConfigMap,
		"clientFilesConfigMap": c.ClientFilesConfigMap,
		"sglangExtraConfig":    c.SGLangExtraConfig,
		"metricsUrl":           c.MetricsURL,
		"fabric":               fabric,
	}, nil
}

// settings returns a part of a spec, its defaults filled, as a stack file has it.
func settings(part any) (pulumi.Map, error) {
	text, err := json.Marshal(part)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	return pulumi.ToMap(fields), nil
}
