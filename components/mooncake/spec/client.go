package spec

import (
	"encoding/json"
	"slices"
	"strings"
)

// ClientVariables are what every client of the cluster called name is told, an
// inference engine for example: what must be the same for stores and clients, and
// that it lends no memory itself. Each pod must add its own address, as
// MOONCAKE_LOCAL_HOSTNAME and LOCAL_HOSTNAME: see examples.
func (c Cluster) ClientVariables(name string) map[string]string {
	shared := map[string]string{"MOONCAKE_GLOBAL_SEGMENT_SIZE": "0"}
	for _, v := range c.storeVariables(name) {
		if perPod := v.Field != "" || strings.Contains(v.Value, "$("); !perPod && !ofStoresOnly(v.Name) {
			shared[v.Name] = v.Value
		}
	}
	return shared
}

func ofStoresOnly(variable string) bool {
	return slices.Contains([]string{
		"MOONCAKE_GLOBAL_SEGMENT_SIZE", "MOONCAKE_LOCAL_BUFFER_SIZE",
		"MOONCAKE_ENABLE_CLIENT_HTTP_SERVER", "MOONCAKE_CLIENT_HTTP_PORT", "LD_PRELOAD",
	}, variable)
}

// VLLMConfig is the file that vLLM's MooncakeStoreConnector reads from the path in
// MOONCAKE_CONFIG_PATH. vLLM finds the address of its pod itself.
func (c Cluster) VLLMConfig(name string) (string, error) {
	shared := c.ClientVariables(name)
	text, err := json.MarshalIndent(map[string]any{
		"mode":                  "standalone-store",
		"master_server_address": shared["MOONCAKE_MASTER"],
		"metadata_server":       shared["MOONCAKE_TE_META_DATA_SERVER"],
		"protocol":              shared["MOONCAKE_PROTOCOL"],
		"device_name":           shared["MOONCAKE_DEVICE"],
		"global_segment_size":   0,
	}, "", "  ")
	return string(text) + "\n", err
}

// SGLangExtraConfig is the argument that SGLang takes behind
// --hicache-storage-backend-extra-config, in a container with the address of its pod
// in the variable POD_IP: Kubernetes writes that address into arguments, but not into
// files. SGLang then reads none of its own variables; the Transfer Engine's, MC_, come
// from the ConfigMap all the same.
func (c Cluster) SGLangExtraConfig(name string) (string, error) {
	shared := c.ClientVariables(name)
	text, err := json.Marshal(map[string]any{
		"local_hostname":        "$(POD_IP)",
		"master_server_address": shared["MOONCAKE_MASTER"],
		"metadata_server":       shared["MOONCAKE_TE_META_DATA_SERVER"],
		"protocol":              shared["MOONCAKE_PROTOCOL"],
		"device_name":           shared["MOONCAKE_DEVICE"],
		"global_segment_size":   0,
	})
	return string(text), err
}
