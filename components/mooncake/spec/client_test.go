package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClientsHaveWhatStoresHave(t *testing.T) {
	c := available()
	rdma(&c, RDMAHostNetwork)
	c.Metadata = Metadata{MetadataEtcd, []string{"etcd:2379"}}
	got := c.ClientVariables("m")
	for _, v := range c.StoreVariables("m") {
		switch v.Name {
		case "MOONCAKE_MASTER", "MOONCAKE_TE_META_DATA_SERVER", "MOONCAKE_PROTOCOL", "MOONCAKE_DEVICE",
			"MC_STORE_CLUSTER_ID", "MC_METADATA_CLUSTER_ID", "MC_MIN_PRC_PORT", "MC_MAX_RPC_PORT", "MC_RPC_TIMEOUT_MS":
			assert.Equal(t, v.Value, got[v.Name], v.Name)
		}
	}
	assert.Len(t, got, 13)
	assert.Equal(t, "0", got["MOONCAKE_GLOBAL_SEGMENT_SIZE"], "a client that lends memory loses it with each restart")
	for _, own := range []string{"POD_IP", "MOONCAKE_LOCAL_HOSTNAME", "LOCAL_HOSTNAME", "MOONCAKE_LOCAL_BUFFER_SIZE", "MOONCAKE_CLIENT_HTTP_PORT"} {
		assert.NotContains(t, got, own)
	}
	for _, value := range got {
		assert.NotContains(t, value, "$(", "envFrom does not expand it")
	}
}

func TestVLLMConfig(t *testing.T) {
	got, err := valid().VLLMConfig("m")
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"mode": "standalone-store", "global_segment_size": 0, "protocol": "tcp", "device_name": "",
		"master_server_address": "m-master.default.svc:50051", "metadata_server": "P2PHANDSHAKE"
	}`, got)
}

func TestSGLangExtraConfig(t *testing.T) {
	c := available()
	rdma(&c, RDMAHostNetwork)
	got, err := c.SGLangExtraConfig("m")
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"local_hostname": "$(POD_IP)", "global_segment_size": 0, "protocol": "rdma", "device_name": "mlx5_0,mlx5_1",
		"master_server_address": "etcd://etcd:2379", "metadata_server": "P2PHANDSHAKE"
	}`, got)
}
