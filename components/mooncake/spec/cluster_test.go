package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func valid() Cluster { return Cluster{Image: "mooncake:1"}.WithDefaults() }

func rdma(c *Cluster, mode FabricMode) {
	c.Fabric = Fabric{Mode: mode, NICs: []string{"mlx5_0", "mlx5_1"}}.withDefaults()
}

func TestDefaults(t *testing.T) {
	c := valid()
	assert.Equal(t, 3, c.Store.Replicas)
	assert.Equal(t, TCP, c.Fabric.Mode)
	assert.Equal(t, "10432Mi", c.Store.Resources.Limits.Memory, "segment, buffer and overhead")
	assert.Equal(t, c.Store.Resources.Limits.Memory, c.Store.Resources.Requests.Memory)
	assert.Equal(t, c, c.WithDefaults(), "defaults applied twice change something")
	assert.Empty(t, c.Validate("mooncake", nil))
}

func TestValidate(t *testing.T) {
	minus := -1
	three := 3
	cases := map[string]struct {
		change func(*Cluster)
		want   string // "" when it is valid
	}{
		"no image":                     {func(c *Cluster) { c.Image = "" }, "image: Required value"},
		"a bad namespace":              {func(c *Cluster) { c.Namespace = "-" }, "namespace: Invalid value"},
		"no store":                     {func(c *Cluster) { c.Store.Replicas = -1 }, "store.replicas: Invalid value"},
		"a segment in another unit":    {func(c *Cluster) { c.Store.SegmentSize = "10gb" }, `store.segmentSize: Invalid value: "10gb": is not a quantity`},
		"the smallest segment":         {func(c *Cluster) { c.Store.SegmentSize = "16Mi" }, ""},
		"a segment that is too small":  {func(c *Cluster) { c.Store.SegmentSize = "15Mi" }, "must be at least 16Mi"},
		"a buffer of nothing":          {func(c *Cluster) { c.Store.LocalBufferSize = "0" }, "store.localBufferSize: Invalid value"},
		"a buffer of a few bytes":      {func(c *Cluster) { c.Store.LocalBufferSize = "100" }, "must be at least 1Mi"},
		"a limit that holds all":       {func(c *Cluster) { c.Store.SegmentSize = "256Mi"; c.Store.Resources.Limits.Memory = "448Mi" }, "requests.memory"},
		"a limit without headroom":     {func(c *Cluster) { c.Store.Resources.Limits.Memory = "10Gi"; c.Store.Resources.Requests.Memory = "10Gi" }, "must be at least 10432Mi: segment 10Gi + local buffer 64Mi + 128Mi"},
		"a master's memory":            {func(c *Cluster) { c.Master.Resources.Limits.Memory = "1x" }, "master.resources.limits.memory"},
		"a negative timeout":           {func(c *Cluster) { c.TimeoutSeconds = -1 }, "timeoutSeconds: Invalid value"},
		"an unknown fabric":            {func(c *Cluster) { c.Fabric.Mode = "infiniband" }, `fabric.mode: Unsupported value: "infiniband"`},
		"RDMA in the host's network":   {func(c *Cluster) { rdma(c, RDMAHostNetwork) }, ""},
		"RDMA by a device plugin":      {func(c *Cluster) { rdma(c, RDMADevicePlugin) }, ""},
		"RDMA with a GID index":        {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.GIDIndex = &three }, ""},
		"RDMA, privileged":             {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.Privileged = true }, ""},
		"RDMA without NICs":            {func(c *Cluster) { c.Fabric.Mode = RDMAHostNetwork }, "fabric.nics: Required value: name the RDMA devices"},
		"NICs without RDMA":            {func(c *Cluster) { c.Fabric.NICs = []string{"mlx5_0"} }, "fabric.nics: Forbidden"},
		"a GID index without RDMA":     {func(c *Cluster) { c.Fabric.GIDIndex = &three }, "fabric.gidIndex: Forbidden"},
		"a negative GID index":         {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.GIDIndex = &minus }, "fabric.gidIndex: Invalid value"},
		"a NIC twice":                  {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.NICs[1] = "mlx5_0" }, "fabric.nics[1]: Duplicate value"},
		"NICs in one text":             {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.NICs = []string{"mlx5_0,mlx5_1"} }, "fabric.nics[0]: Invalid value"},
		"a NIC without a name":         {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.NICs = []string{""} }, "fabric.nics[0]: Invalid value"},
		"privileged by device plugin":  {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.Privileged = true }, "fabric.privileged: Forbidden"},
		"a device plugin without RDMA": {func(c *Cluster) { c.Fabric.DevicePlugin.Count = 1 }, "fabric.devicePlugin: Forbidden"},
		"a device plugin's bad name":   {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.DevicePlugin.Resource = "rdma/" }, "fabric.devicePlugin.resource: Invalid value"},
		"a negative count of devices":  {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.DevicePlugin.Count = -1 }, "fabric.devicePlugin.count: Invalid value"},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			c := valid()
			tc.change(&c)
			errs := c.Validate("mooncake", nil)
			if tc.want == "" {
				assert.Empty(t, errs)
				return
			}
			if assert.NotEmpty(t, errs) {
				assert.Contains(t, errs.ToAggregate().Error(), tc.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	assert.Empty(t, valid().Validate(strings.Repeat("a", 56), nil))
	assert.NotEmpty(t, valid().Validate(strings.Repeat("a", 57), nil))
	assert.NotEmpty(t, valid().Validate("a.b", nil))
}

func TestStoreVariables(t *testing.T) {
	values := func(c Cluster) map[string]string {
		m := map[string]string{}
		for _, v := range c.StoreVariables("mooncake") {
			assert.NotContains(t, m, v.Name, "set twice")
			m[v.Name] = v.Value + v.Field
		}
		return m
	}
	c := valid()
	c.Namespace = "kv"
	tcp := values(c)
	assert.Equal(t, "status.podIP", tcp["POD_IP"])
	assert.Equal(t, "$(POD_IP)", tcp["MOONCAKE_LOCAL_HOSTNAME"])
	assert.Equal(t, "$(POD_IP)", tcp["LOCAL_HOSTNAME"], "the name that versions before 0.3.8 read")
	assert.Equal(t, "mooncake-master.kv.svc:50051", tcp["MOONCAKE_MASTER"])
	assert.Equal(t, "10737418240", tcp["MOONCAKE_GLOBAL_SEGMENT_SIZE"], "Mooncake reads no 10Gi")
	assert.Equal(t, "67108864", tcp["MOONCAKE_LOCAL_BUFFER_SIZE"])
	assert.Equal(t, "tcp", tcp["MOONCAKE_PROTOCOL"])
	assert.NotContains(t, tcp, "MOONCAKE_DEVICE")

	rdma(&c, RDMAHostNetwork)
	gid := 0
	c.Fabric.GIDIndex = &gid
	fabric := values(c)
	assert.Equal(t, "rdma", fabric["MOONCAKE_PROTOCOL"])
	assert.Equal(t, "mlx5_0,mlx5_1", fabric["MOONCAKE_DEVICE"])
	assert.Equal(t, "0", fabric["MC_GID_INDEX"], "index 0 is a choice")

	c.Fabric.GIDIndex = nil
	assert.NotContains(t, values(c), "MC_GID_INDEX")
}
