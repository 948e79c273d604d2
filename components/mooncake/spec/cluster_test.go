package spec

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func valid() Cluster { return Cluster{Image: "mooncake:1", Version: "0.3.13.post1"}.WithDefaults() }

// older is a valid cluster of the first release that is known.
func older() Cluster { return Cluster{Image: "lmsysorg/sglang:v0.5.5"}.WithDefaults() }

// available is a valid cluster with several masters.
func available() Cluster {
	c := valid()
	c.HighAvailability.Etcd, c.Master.Replicas = []string{"etcd:2379"}, 0
	return c.WithDefaults()
}

func rdma(c *Cluster, mode FabricMode) {
	c.Fabric = Fabric{Mode: mode, NICs: []string{"mlx5_0", "mlx5_1"}}
	c.Store.Resources = Resources{} // it needs more memory
	*c = c.WithDefaults()
}

// parameters sets every parameter of RDMA.
func parameters(c *Cluster) {
	zero, four := 0, 4
	c.Fabric.GIDIndex, c.Fabric.TrafficClass, c.Fabric.ServiceLevel = &zero, &zero, &four
	c.Fabric.IBPort, c.Fabric.PartitionKeyIndex, c.Fabric.MTU = 2, 1, 1024
	c.Fabric.Tuning = Tuning{
		QueuePairs: 4, CompletionQueues: 2, WorkRequests: 512, Workers: 8, Retries: 3,
		SliceSize: "128Ki", MaxRegionSize: "512Gi", SameRail: true,
	}
}

func TestDefaults(t *testing.T) {
	c := valid()
	assert.Equal(t, 3, c.Store.Replicas)
	assert.Equal(t, TCP, c.Fabric.Mode)
	assert.Equal(t, "10452Mi", c.Store.Resources.Limits.Memory, "segment, buffer and overhead")
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
		"no image":                         {func(c *Cluster) { c.Image = "" }, "image: Required value"},
		"an image with a blank":            {func(c *Cluster) { c.Image = "mooncake: 1" }, `image: Invalid value: "mooncake: 1": is no image's name`},
		"a bad namespace":                  {func(c *Cluster) { c.Namespace = "-" }, "namespace: Invalid value"},
		"no store":                         {func(c *Cluster) { c.Store.Replicas = -1 }, "store.replicas: Invalid value"},
		"more stores than there are nodes": {func(c *Cluster) { c.Store.Replicas = 99999999999 }, "store.replicas: Invalid value: 99999999999: must be from 1 to 10000"},
		"a segment in another unit":        {func(c *Cluster) { c.Store.SegmentSize = "10gb" }, `store.segmentSize: Invalid value: "10gb": is not a quantity`},
		"the smallest segment":             {func(c *Cluster) { c.Store.SegmentSize = "16Mi" }, ""},
		"a segment that is too small":      {func(c *Cluster) { c.Store.SegmentSize = "15Mi" }, "must be at least 16Mi"},
		"a buffer of nothing":              {func(c *Cluster) { c.Store.LocalBufferSize = "0" }, "store.localBufferSize: Invalid value"},
		"a buffer of a few bytes":          {func(c *Cluster) { c.Store.LocalBufferSize = "100" }, "must be at least 1Mi"},
		"a limit that holds all":           {func(c *Cluster) { c.Store.SegmentSize = "256Mi"; c.Store.Resources.Limits.Memory = "449Mi" }, "requests.memory"},
		"a limit without headroom":         {func(c *Cluster) { c.Store.Resources.Limits.Memory = "10Gi"; c.Store.Resources.Requests.Memory = "10Gi" }, "must be at least 10452Mi: segment 10Gi + local buffer 64Mi + 148Mi"},
		"a master's memory":                {func(c *Cluster) { c.Master.Resources.Limits.Memory = "1x" }, "master.resources.limits.memory"},
		"a master's memory, half a byte":   {func(c *Cluster) { c.Master.Resources.Limits.Memory = "256m" }, `master.resources.limits.memory: Invalid value: "256m": is no whole number of bytes`},
		"a master's memory, a little":      {func(c *Cluster) { r := &c.Master.Resources; r.Limits.Memory, r.Requests.Memory = "64Mi", "64Mi" }, ""},
		"a segment of all computers":       {func(c *Cluster) { c.Store.SegmentSize = "8Ei" }, `store.segmentSize: Invalid value: "8Ei": must be at most 64Pi`},
		"a store of too much memory":       {func(c *Cluster) { c.Store.Resources.Limits.Memory = "2Pi" }, "store.resources.limits.memory: Invalid value: \"2Pi\": must be at most 1Pi"},
		"no version of an unknown image":   {func(c *Cluster) { c.Version = "" }, `version: Required value: say which Mooncake is in image "mooncake:1"`},
		"a version that nobody knows":      {func(c *Cluster) { c.Version = "0.4" }, `version: Unsupported value: "0.4": supported values: "0.3.7.post2"`},
		"the first known version":          {func(c *Cluster) { *c = older() }, ""},
		"a buffer that the version fixed":  {func(c *Cluster) { *c = older(); c.Store.LocalBufferSize = "64Mi" }, "store.localBufferSize: Forbidden: Mooncake 0.3.7.post2 has no MOONCAKE_LOCAL_BUFFER_SIZE: it exists since 0.3.8"},
		"two masters on etcd":              {func(c *Cluster) { *c = available(); c.Master.Replicas = 2 }, ""},
		"two masters without etcd":         {func(c *Cluster) { c.Master.Replicas = 2 }, "master.replicas: Invalid value: 2: must be 1 without highAvailability.etcd"},
		"one master on etcd":               {func(c *Cluster) { *c = available(); c.Master.Replicas = 1 }, "master.replicas: Invalid value: 1: must be 2 or 3"},
		"four masters":                     {func(c *Cluster) { *c = available(); c.Master.Replicas = 4 }, "must be 2 or 3"},
		"several masters, too old":         {func(c *Cluster) { *c = available(); c.Version = "0.3.10.post1"; c.Store.DrainSeconds = new(int) }, "highAvailability.etcd: Forbidden: Mooncake 0.3.10.post1 has no high availability: it exists since 0.3.10.post2"},
		"an etcd with a scheme":            {func(c *Cluster) { *c = available(); c.HighAvailability.Etcd[0] = "http://etcd:2379" }, "highAvailability.etcd[0]: Invalid value"},
		"etcd servers in one text":         {func(c *Cluster) { *c = available(); c.HighAvailability.Etcd[0] = "a:2379,b:2379" }, "is not host:port of one server"},
		"an etcd without a port":           {func(c *Cluster) { *c = available(); c.HighAvailability.Etcd[0] = "etcd" }, "is not host:port of one server"},
		"an etcd twice":                    {func(c *Cluster) { *c = available(); c.HighAvailability.Etcd = []string{"a:1", "a:1"} }, "highAvailability.etcd[1]: Duplicate value"},
		"metadata in the master":           {func(c *Cluster) { c.Metadata.Mode = MetadataHTTP }, ""},
		"metadata in several masters":      {func(c *Cluster) { *c = available(); c.Metadata.Mode = MetadataHTTP }, "metadata.mode: Forbidden: each of several masters would have metadata of its own"},
		"metadata in etcd":                 {func(c *Cluster) { c.Metadata = Metadata{MetadataEtcd, []string{"etcd:2379"}} }, ""},
		"metadata in no etcd":              {func(c *Cluster) { c.Metadata.Mode = MetadataEtcd }, "metadata.etcd: Required value"},
		"an etcd that is not used":         {func(c *Cluster) { c.Metadata.Etcd = []string{"etcd:2379"} }, "metadata.etcd: Forbidden: is only for metadata.mode etcd"},
		"metadata in Redis":                {func(c *Cluster) { c.Metadata.Mode = "redis" }, `metadata.mode: Unsupported value: "redis"`},
		"a cluster id":                     {func(c *Cluster) { c.ClusterID = "pool-1.a" }, ""},
		"a cluster id with a slash":        {func(c *Cluster) { c.ClusterID = "a/b" }, "clusterId: Invalid value"},
		"stores on nodes of their own":     {func(c *Cluster) { c.Store.Placement.Spread = "Required" }, ""},
		"an unknown spread":                {func(c *Cluster) { c.Store.Placement.Spread = "Maybe" }, `store.placement.spread: Unsupported value: "Maybe"`},
		"a label that no node can have":    {func(c *Cluster) { c.Master.Placement.NodeSelector = map[string]string{"a b": "x"} }, "master.placement.nodeSelector: Invalid value"},
		"an unknown effect of a taint":     {func(c *Cluster) { c.Store.Placement.Tolerations = []Toleration{{Key: "a", Effect: "Never"}} }, "store.placement.tolerations[0].effect: Unsupported value"},
		"two stores away at once":          {func(c *Cluster) { c.Store.DisruptionBudget.MaxUnavailable = 2 }, ""},
		"more stores away than there are":  {func(c *Cluster) { c.Store.DisruptionBudget.MaxUnavailable = 4 }, "store.disruptionBudget.maxUnavailable: Invalid value: 4: must be from 1 to 3"},
		"a class of no priority":           {func(c *Cluster) { c.Master.Placement.PriorityClassName = "High" }, "master.placement.priorityClassName: Invalid value"},
		"a taint that cannot exist":        {func(c *Cluster) { c.Store.Placement.Tolerations = []Toleration{{Key: "a b"}} }, "store.placement.tolerations[0].key: Invalid value"},
		"a node label that cannot exist":   {func(c *Cluster) { c.Store.Placement.NodeSelector = map[string]string{"a b": "x"} }, "store.placement.nodeSelector: Invalid value"},
		"more annotations than fit":        {func(c *Cluster) { c.Annotations = map[string]string{"a": strings.Repeat("x", 252<<10)} }, "annotations: Invalid value"},
		"texts of any kind":                {func(c *Cluster) { c.Master.Restart, c.Store.Restart, c.RunVerify = "1\n2", "$(x)", "ä" }, ""},
		"a master's text without end":      {func(c *Cluster) { c.Master.Restart = strings.Repeat("x", 1025) }, "master.restart: Too long"},
		"a store's text without end":       {func(c *Cluster) { c.Store.Restart = strings.Repeat("x", 1025) }, "store.restart: Too long"},
		"a check's text with a NUL":        {func(c *Cluster) { c.RunVerify = "\x00" }, "runVerify: Invalid value"},
		"a flag with a NUL":                {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"vmodule": "\x00"} }, "master.extraFlags[vmodule]: Invalid value"},
		"a master's variable with a NUL":   {func(c *Cluster) { c.Master.ExtraEnv = map[string]string{"A": "\x00"} }, "master.extraEnv[A]: Invalid value"},
		"a store's variable with a NUL":    {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"A": "\x00"} }, "store.extraEnv[A]: Invalid value"},
		"a pull secret":                    {func(c *Cluster) { c.ImagePullSecrets = []string{"registry"} }, ""},
		"a pull secret without a name":     {func(c *Cluster) { c.ImagePullSecrets = []string{""} }, "imagePullSecrets[0]: Invalid value"},
		"a label of pods":                  {func(c *Cluster) { c.Labels = map[string]string{"team": "kv"} }, ""},
		"a label that picks pods":          {func(c *Cluster) { c.Labels = map[string]string{"app": "x"} }, "labels[app]: Forbidden"},
		"an annotation of pods":            {func(c *Cluster) { c.Annotations = map[string]string{"example.com/a": "x y"} }, ""},
		"an annotation of the component":   {func(c *Cluster) { c.Annotations = map[string]string{"kvinfra/restart": "x"} }, "annotations[kvinfra/restart]: Forbidden"},
		"a further flag":                   {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"offload_cap_ratio": "0.4"} }, ""},
		"a flag that has a field":          {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"client_ttl": "5"} }, "master.extraFlags[client_ttl]: Forbidden: is set by the component: use master.clientTTLSeconds"},
		"a flag that does not exist":       {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"enable_magic": "true"} }, "master.extraFlags[enable_magic]: Forbidden: is no flag of mooncake_master"},
		"a flag that is too new":           {func(c *Cluster) { *c = older(); c.Master.ExtraFlags = map[string]string{"quota_bytes": "1"} }, "Mooncake 0.3.7.post2 has no flag --quota_bytes: it exists since 0.3.8"},
		"a log of operations, HA":          {func(c *Cluster) { *c = available(); c.Master.ExtraFlags = map[string]string{"enable_oplog": "true"} }, ""},
		"a log of operations, alone":       {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"enable_oplog": "true"} }, "needs highAvailability"},
		"offload to a disk":                {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"enable_offload": "true"} }, "master.extraFlags[enable_offload]: Forbidden: needs a disk or device in each store"},
		"no offload":                       {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"enable_offload": "false"} }, ""},
		"a store's offload to a disk":      {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MOONCAKE_OFFLOAD_ENABLED": "true"} }, "store.extraEnv[MOONCAKE_OFFLOAD_ENABLED]: Forbidden: needs a disk"},
		"a directory that all share":       {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"root_fs_dir": "/mnt"} }, "master.extraFlags[root_fs_dir]: Forbidden"},
		"snapshots in a directory":         {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"enable_snapshot": "true"} }, "master.extraFlags[enable_snapshot]: Forbidden: keeps snapshots in a directory"},
		"snapshots in S3": {func(c *Cluster) {
			c.Master.ExtraFlags = map[string]string{"enable_snapshot": "true", "snapshot_object_store_type": "s3"}
		}, ""},
		"tenants without quotas": {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"enable_multi_tenants": "true"} }, "master.extraFlags[enable_multi_tenants]: Forbidden: refuses every write of a tenant without a quota"},
		"tenants with quotas in etcd": {func(c *Cluster) {
			c.Master.ExtraFlags = map[string]string{"enable_multi_tenants": "true", "tenant_quota_connector_type": "etcd", "tenant_quota_connector_uri": "etcd:2379"}
		}, ""},
		"cachelib": {func(c *Cluster) { c.Master.ExtraFlags = map[string]string{"memory_allocator": "cachelib"} }, ""},
		"cachelib, odd segment": {func(c *Cluster) {
			c.Master.ExtraFlags = map[string]string{"memory_allocator": "cachelib"}
			c.Store.SegmentSize = "100Mi"
		}, "cachelib takes segments of a multiple of 16Mi, and store.segmentSize is 100Mi"},
		"a hot cache": {func(c *Cluster) {
			c.Store.ExtraEnv, c.Store.Resources = map[string]string{"MC_STORE_LOCAL_HOT_CACHE_SIZE": "1073741824"}, Resources{}
			*c = c.WithDefaults()
		}, ""},
		"a hot cache without room":       {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MC_STORE_LOCAL_HOT_CACHE_SIZE": "1073741824"} }, "must be at least 11476Mi: segment 10Gi + local buffer 64Mi + hot cache 1Gi + 148Mi"},
		"a hot cache with a unit":        {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MC_STORE_LOCAL_HOT_CACHE_SIZE": "1Gi"} }, "must be a number of bytes"},
		"a tenant":                       {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MOONCAKE_TENANT_ID": "a"} }, ""},
		"a tenant, too old":              {func(c *Cluster) { *c = older(); c.Store.ExtraEnv = map[string]string{"MOONCAKE_TENANT_ID": "a"} }, "Mooncake 0.3.7.post2 has no MOONCAKE_TENANT_ID: it exists since 0.3.12"},
		"a further variable":             {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MC_TE_METRIC": "1"} }, ""},
		"a variable of the masters":      {func(c *Cluster) { c.Master.ExtraEnv = map[string]string{"MC_LOG_LEVEL": "INFO"} }, ""},
		"a variable that has a field":    {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MOONCAKE_DEVICE": "x"} }, "store.extraEnv[MOONCAKE_DEVICE]: Forbidden: is set by the component: use fabric.nics"},
		"a variable of the fabric":       {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MC_GID_INDEX": "3"} }, "has a field of its own in fabric"},
		"the hostname":                   {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MOONCAKE_LOCAL_HOSTNAME": "localhost"} }, "cannot be changed"},
		"huge pages":                     {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MC_STORE_USE_HUGEPAGE": "0"} }, "would need huge pages"},
		"TCP by force":                   {func(c *Cluster) { c.Store.ExtraEnv = map[string]string{"MC_FORCE_TCP": "1"} }, "is what fabric.mode tcp does"},
		"a variable with a blank":        {func(c *Cluster) { c.Master.ExtraEnv = map[string]string{"A B": "1"} }, "is not the name of a variable"},
		"no drain":                       {func(c *Cluster) { c.Store.DrainSeconds = new(int) }, ""},
		"a negative drain":               {func(c *Cluster) { c.Store.DrainSeconds = &minus }, "store.drainSeconds: Invalid value"},
		"a drain that the version lacks": {func(c *Cluster) { *c = older(); c.Store.DrainSeconds = &three }, "store.drainSeconds: Forbidden: Mooncake 0.3.7.post2 has no drain_jobs: it exists since 0.3.12"},
		"threads":                        {func(c *Cluster) { c.Master.Threads = 8 }, ""},
		"negative threads":               {func(c *Cluster) { c.Master.Threads = -1 }, "master.threads: Invalid value"},
		"a short lease":                  {func(c *Cluster) { c.Master.LeaseMilliseconds = 1 }, ""},
		"a negative lease":               {func(c *Cluster) { c.Master.LeaseMilliseconds = -1 }, "master.leaseMilliseconds: Invalid value"},
		"a timeout of a day":             {func(c *Cluster) { c.TimeoutSeconds = 86400 }, ""},
		"a timeout that overflows":       {func(c *Cluster) { c.TimeoutSeconds = math.MaxInt }, "timeoutSeconds: Invalid value: 9223372036854775807: must be from 1 to 86400"},
		"a drain that overflows":         {func(c *Cluster) { most := math.MaxInt; c.Store.DrainSeconds = &most }, "store.drainSeconds: Invalid value: 9223372036854775807: must be from 0 to 86400"},
		"a lease that overflows":         {func(c *Cluster) { c.Master.LeaseMilliseconds = math.MaxInt }, "master.leaseMilliseconds: Invalid value: 9223372036854775807: must be from 1 to 86400000"},
		"a client TTL that overflows":    {func(c *Cluster) { c.Master.ClientTTLSeconds = math.MaxInt }, "master.clientTTLSeconds: Invalid value: 9223372036854775807: must be from 1 to 86400"},
		"more threads than cores":        {func(c *Cluster) { c.Master.Threads = 1025 }, "master.threads: Invalid value: 1025: must be from 1 to 1024"},
		"more devices than a node has":   {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.DevicePlugin.Count = 1001 }, "fabric.devicePlugin.count: Invalid value: 1001: must be from 1 to 1000"},
		"a short client TTL":             {func(c *Cluster) { c.Master.ClientTTLSeconds = 1 }, ""},
		"a negative client TTL":          {func(c *Cluster) { c.Master.ClientTTLSeconds = -1 }, "master.clientTTLSeconds: Invalid value"},
		"a watermark of all":             {func(c *Cluster) { c.Master.EvictionWatermark = 1 }, ""},
		"a watermark above all":          {func(c *Cluster) { c.Master.EvictionWatermark = 1.1 }, "master.evictionWatermark: Invalid value"},
		"a negative eviction ratio":      {func(c *Cluster) { c.Master.EvictionRatio = -0.1 }, "master.evictionRatio: Invalid value"},
		"another REST port":              {func(c *Cluster) { c.Store.RESTPort = 8080 }, ""},
		"a privileged REST port":         {func(c *Cluster) { c.Store.RESTPort = 80 }, "store.restPort: Invalid value: 80: must be between"},
		"the health's port for REST":     {func(c *Cluster) { c.Store.RESTPort = 9300 }, "store.restPort: Invalid value: 9300: is the port of the store's health"},
		"a port of the Transfer Engine":  {func(c *Cluster) { c.Store.RESTPort = 15031 }, "is one of the Transfer Engine's ports, 15000 to 15031"},
		"a negative timeout":             {func(c *Cluster) { c.TimeoutSeconds = -1 }, "timeoutSeconds: Invalid value"},
		"an unknown fabric":              {func(c *Cluster) { c.Fabric.Mode = "infiniband" }, `fabric.mode: Unsupported value: "infiniband"`},
		"RDMA in the host's network":     {func(c *Cluster) { rdma(c, RDMAHostNetwork) }, ""},
		"RDMA by a device plugin":        {func(c *Cluster) { rdma(c, RDMADevicePlugin) }, ""},
		"RDMA with a GID index":          {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.GIDIndex = &three }, ""},
		"RDMA, privileged":               {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.Privileged = true }, ""},
		"RDMA without NICs":              {func(c *Cluster) { c.Fabric.Mode = RDMAHostNetwork }, "fabric.nics: Required value: name the RDMA devices of the nodes"},
		"devices that a plugin gave":     {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.NICs = nil }, ""},
		"a plugin's, by their names": {func(c *Cluster) {
			rdma(c, RDMADevicePlugin)
			c.Fabric.NICs = nil
			c.Fabric.NICFilters = []string{"mlx5_2"}
		}, ""},
		"a plugin's, in silence": {func(c *Cluster) { *c = older(); rdma(c, RDMADevicePlugin); c.Fabric.NICs = nil }, "fabric.nics: Required value: name the RDMA devices: Mooncake 0.3.7.post2 takes TCP in silence"},
		"filters beside names":   {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.NICFilters = []string{"mlx5_2"} }, "fabric.nicFilters: Forbidden: is only for mode rdma-device-plugin without nics"},
		"filters in one text": {func(c *Cluster) {
			rdma(c, RDMADevicePlugin)
			c.Fabric.NICs = nil
			c.Fabric.NICFilters = []string{"a,b"}
		}, "fabric.nicFilters[0]: Invalid value"},
		"all parameters of RDMA":  {func(c *Cluster) { rdma(c, RDMAHostNetwork); parameters(c) }, ""},
		"parameters without RDMA": {parameters, "fabric.tuning.sameRail: Forbidden: is only for RDMA"},
		"a size without RDMA":     {func(c *Cluster) { c.Fabric.Tuning.SliceSize = "64Ki" }, "fabric.tuning.sliceSize: Forbidden"},
		"an odd MTU":              {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.MTU = 1500 }, "fabric.mtu: Invalid value: 1500: must be 512, 1024, 2048 or 4096"},
		"a large traffic class":   {func(c *Cluster) { rdma(c, RDMAHostNetwork); big := 256; c.Fabric.TrafficClass = &big }, "fabric.trafficClass: Invalid value: 256: must be between 0 and 255"},
		"a large service level":   {func(c *Cluster) { rdma(c, RDMAHostNetwork); big := 16; c.Fabric.ServiceLevel = &big }, "fabric.serviceLevel: Invalid value: 16: must be between 0 and 15"},
		"a service level, too old": {func(c *Cluster) {
			rdma(c, RDMAHostNetwork)
			c.Version = "0.3.11"
			c.Store.DrainSeconds = new(int)
			c.Fabric.ServiceLevel = &three
		}, "fabric.serviceLevel: Forbidden: Mooncake 0.3.11 has no MC_IB_SL: it exists since 0.3.12"},
		"too many workers":                        {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.Tuning.Workers = 9 }, "fabric.tuning.workers: Invalid value: 9: must be between 1 and 8"},
		"a slice of another unit":                 {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.Tuning.SliceSize = "64kb" }, "fabric.tuning.sliceSize: Invalid value"},
		"NICs without RDMA":                       {func(c *Cluster) { c.Fabric.NICs = []string{"mlx5_0"} }, "fabric.nics: Forbidden"},
		"a GID index without RDMA":                {func(c *Cluster) { c.Fabric.GIDIndex = &three }, "fabric.gidIndex: Forbidden"},
		"a negative GID index":                    {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.GIDIndex = &minus }, "fabric.gidIndex: Invalid value"},
		"a NIC twice":                             {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.NICs[1] = "mlx5_0" }, "fabric.nics[1]: Duplicate value"},
		"NICs in one text":                        {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.NICs = []string{"mlx5_0,mlx5_1"} }, "fabric.nics[0]: Invalid value"},
		"a NIC without a name":                    {func(c *Cluster) { rdma(c, RDMAHostNetwork); c.Fabric.NICs = []string{""} }, "fabric.nics[0]: Invalid value"},
		"privileged by device plugin":             {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.Privileged = true }, "fabric.privileged: Forbidden"},
		"a device plugin without RDMA":            {func(c *Cluster) { c.Fabric.DevicePlugin.Count = 1 }, "fabric.devicePlugin: Forbidden"},
		"a device plugin's bad name":              {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.DevicePlugin.Resource = "rdma/" }, "fabric.devicePlugin.resource: Invalid value"},
		"a device plugin's name without a domain": {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.DevicePlugin.Resource = "hca" }, "fabric.devicePlugin.resource: Invalid value: \"hca\": needs a domain"},
		"a negative count of devices":             {func(c *Cluster) { rdma(c, RDMADevicePlugin); c.Fabric.DevicePlugin.Count = -1 }, "fabric.devicePlugin.count: Invalid value"},
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

func TestVersionOfAnImage(t *testing.T) {
	for image, want := range map[string]Version{
		"kvcacheai/mooncake:0.3.13.post1":                 "0.3.13.post1",
		"docker.io/kvcacheai/mooncake:0.3.12-cuda13":      "0.3.12",
		"registry:5000/kvcacheai/mooncake:0.3.9@sha256:0": "0.3.9",
		"lmsysorg/sglang:v0.5.5":                          "0.3.7.post2",
		"kvcacheai/mooncake:0.9":                          "",
		"kvcacheai/mooncake":                              "",
		"registry:5000/mooncake":                          "",
		"notkvcacheai/mooncake:0.3.9":                     "",
		"lmsysorg/sglang:latest":                          "",
	} {
		assert.Equal(t, want, versionOf(image), image)
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	assert.True(t, Version("0.3.12").since("0.3.12"))
	assert.True(t, Version("0.3.12.post1").since("0.3.12"))
	assert.True(t, Version("0.3.10").since("0.3.9"), "numbers, not letters")
	assert.False(t, Version("0.3.8").since("0.3.8.post1"))
	for name, g := range gates() {
		for _, v := range []Version{g.Since, g.Until} {
			assert.True(t, v == "" || slices.Contains(v.Choices(), v), "%s: %s is no release", name, v)
		}
	}
}

func TestWarnings(t *testing.T) {
	assert.Empty(t, valid().Warnings())
	for want, change := range map[string]func(*Cluster){
		"LD_PRELOAD=libgcc_s.so.1": func(c *Cluster) { *c = older() },
		"made for nodes with an":   func(c *Cluster) { *c = older() },
		"none to move them to":     func(c *Cluster) { c.Store.Replicas = 1 },
		"have no leader":           func(c *Cluster) { *c = available() },
		"is not pinned":            func(c *Cluster) { c.Image = "registry:5000/mooncake" },
		"killed before others":     func(c *Cluster) { c.Store.Resources.Requests.Memory = "1Gi" },
		"nothing is evicted":       func(c *Cluster) { c.Master.EvictionWatermark = 1 },
		"busy for 4 s is dropped":  func(c *Cluster) { c.Master.ClientTTLSeconds = 4 },
	} {
		c := valid()
		change(&c)
		assert.Contains(t, strings.Join(c.Warnings(), "\n"), want)
	}
}

func TestWarningOfEtcdInThePublishedImage(t *testing.T) {
	metadata := valid()
	metadata.Metadata = Metadata{MetadataEtcd, []string{"etcd:2379"}}
	for what, tc := range map[string]struct {
		cluster Cluster
		image   string
		version Version
		warned  bool
	}{
		"several masters":            {available(), "kvcacheai/mooncake:0.3.13.post1", "0.3.13.post1", true},
		"metadata in etcd":           {metadata, "kvcacheai/mooncake:0.3.13", "0.3.13", true},
		"a mirror, by its digest":    {metadata, "registry:5000/kvcacheai/mooncake@sha256:0", "0.3.13.post1", true},
		"an older release":           {available(), "kvcacheai/mooncake:0.3.12", "0.3.12", false},
		"an image of another name":   {available(), "registry:5000/mooncake:1", "0.3.13.post1", false},
		"a cluster that has no etcd": {valid(), "kvcacheai/mooncake:0.3.13.post1", "0.3.13.post1", false},
	} {
		t.Run(what, func(t *testing.T) {
			c := tc.cluster
			c.Image, c.Version = tc.image, tc.version
			assert.Equal(t, tc.warned, strings.Contains(strings.Join(c.Warnings(), "\n"), "refuses etcd"))
		})
	}
}

func TestMasterProcess(t *testing.T) {
	assert.Equal(t, []string{"mooncake_master"}, valid().MasterCommand())
	assert.Equal(t, "python3", older().MasterCommand()[0], "its script loses SIGTERM and needs root")

	c := valid()
	assert.NotContains(t, strings.Join(c.MasterArguments("m"), " "), "rpc_thread_num")
	c.Master.Threads, c.Master.LeaseMilliseconds = 8, 2000
	assert.Equal(t, []string{
		"--rpc_port=50051", "--metrics_port=9003", "--default_kv_lease_ttl=2000",
		"--eviction_high_watermark_ratio=0.9", "--eviction_ratio=0.05", "--client_ttl=10", "--rpc_thread_num=8",
	}, c.MasterArguments("m"))
}

func TestSeveralMasters(t *testing.T) {
	c := available()
	c.HighAvailability.Etcd = []string{"a:2379", "b:2379"}
	assert.Equal(t, 3, c.Master.Replicas)
	assert.Equal(t, "etcd://a:2379;b:2379", c.MasterAddress("m"), "no Service: only the one that leads has an open port")
	assert.Equal(t, "m-masters.default.svc:9003", c.AdminAddress("m"))
	assert.Subset(t, c.MasterArguments("m"), []string{
		"--enable_ha=true", "--ha_backend_type=etcd", "--ha_backend_connstring=a:2379;b:2379",
		"--cluster_id=default.m", "--rpc_address=$(POD_IP)",
	})
	id := Variable{Name: "MC_STORE_CLUSTER_ID", Value: "default.m"}
	assert.Contains(t, c.MasterVariables("m"), id)
	assert.Contains(t, c.StoreVariables("m"), id)
	assert.NotContains(t, valid().StoreVariables("m"), id)
}

func TestExtras(t *testing.T) {
	c := available()
	c.Master.ExtraFlags = map[string]string{"v": "1", "offload_cap_ratio": "0.4"}
	c.Master.ExtraEnv = map[string]string{"MC_LOG_LEVEL": "INFO"}
	c.Store.ExtraEnv = map[string]string{"MC_TE_METRIC": "1"}
	arguments := c.MasterArguments("m")
	assert.Equal(t, []string{"--offload_cap_ratio=0.4", "--v=1"}, arguments[len(arguments)-2:])
	assert.Contains(t, c.MasterVariables("m"), Variable{Name: "MC_LOG_LEVEL", Value: "INFO"})
	assert.Contains(t, c.StoreVariables("m"), Variable{Name: "MC_TE_METRIC", Value: "1"})
	assert.NotContains(t, c.ClientVariables("m"), "MC_TE_METRIC")
	for name, since := range extraFlags() {
		assert.True(t, since == "" || slices.Contains(since.Choices(), since), name)
		assert.Empty(t, fieldOf(name), "a flag that the component sets")
	}
}

func TestNoExtraReplacesWhatTheComponentSets(t *testing.T) {
	full := available()
	full.Metadata = Metadata{MetadataEtcd, []string{"etcd:2379"}}
	rdma(&full, RDMAHostNetwork)
	parameters(&full)
	found := available()
	rdma(&found, RDMADevicePlugin)
	found.Fabric.NICs, found.Fabric.NICFilters = nil, []string{"mlx5_0"}
	for _, c := range []Cluster{full, found, older()} {
		for _, v := range append(c.StoreVariables("m"), c.MasterVariables("m")...) {
			extra := map[string]string{v.Name: "x"}
			assert.NotEmpty(t, c.validateExtraEnv(extra, nil), v.Name)
		}
	}
}

func TestMetadata(t *testing.T) {
	c := valid()
	assert.Equal(t, "P2PHANDSHAKE", c.MetadataServer("m"))
	c.Metadata.Mode = MetadataHTTP
	assert.Equal(t, "http://m-master.default.svc:8080/metadata", c.MetadataServer("m"), "without the path stores never start")
	assert.Subset(t, c.MasterArguments("m"), []string{"--enable_http_metadata_server=true", "--http_metadata_server_port=8080"})
	c.Metadata = Metadata{MetadataEtcd, []string{"a:2379", "b:2379"}}
	assert.Equal(t, "etcd://a:2379;b:2379", c.MetadataServer("m"))
	assert.Contains(t, c.StoreVariables("m"), Variable{Name: "MC_METADATA_CLUSTER_ID", Value: "default.m"})
	c.ClusterID = "pool"
	assert.Contains(t, c.StoreVariables("m"), Variable{Name: "MC_METADATA_CLUSTER_ID", Value: "pool"})
}

func TestNames(t *testing.T) {
	assert.Empty(t, valid().Validate(strings.Repeat("a", 46), nil))
	assert.NotEmpty(t, valid().Validate(strings.Repeat("a", 47), nil))
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

	assert.Equal(t, "9300", tcp["MOONCAKE_CLIENT_HTTP_PORT"])
	assert.NotContains(t, tcp, "LD_PRELOAD")

	old := values(older())
	assert.Equal(t, "libgcc_s.so.1", old["LD_PRELOAD"])
	for _, unread := range []string{"MOONCAKE_LOCAL_BUFFER_SIZE", "MOONCAKE_CLIENT_HTTP_PORT", "MC_RPC_TIMEOUT_MS"} {
		assert.NotContains(t, old, unread)
	}

	rdma(&c, RDMAHostNetwork)
	gid := 0
	c.Fabric.GIDIndex = &gid
	fabric := values(c)
	assert.Equal(t, "rdma", fabric["MOONCAKE_PROTOCOL"])
	assert.Equal(t, "mlx5_0,mlx5_1", fabric["MOONCAKE_DEVICE"])
	assert.Equal(t, "0", fabric["MC_GID_INDEX"], "index 0 is a choice")

	parameters(&c)
	fabric = values(c)
	for name, want := range map[string]string{
		"MC_GID_INDEX": "0", "MC_IB_PORT": "2", "MC_IB_TC": "0", "MC_IB_SL": "4", "MC_PKEY_INDEX": "1", "MC_MTU": "1024",
		"MC_NUM_QP_PER_EP": "4", "MC_NUM_CQ_PER_CTX": "2", "MC_MAX_WR": "512", "MC_WORKERS_PER_CTX": "8", "MC_RETRY_CNT": "3",
		"MC_SLICE_SIZE": "131072", "MC_MAX_MR_SIZE": "549755813888", "MC_ENABLE_DEST_DEVICE_AFFINITY": "1",
	} {
		assert.Equal(t, want, fabric[name], name)
	}
	assert.NotContains(t, fabric, "MC_FORCE_HCA", "named devices that are missing are an error anyway")

	rdma(&c, RDMADevicePlugin)
	c.Fabric.NICs, c.Fabric.NICFilters = nil, []string{"mlx5_2", "mlx5_3"}
	found := values(c)
	assert.Equal(t, "1", found["MC_FORCE_HCA"], "or it takes TCP in silence")
	assert.Equal(t, "mlx5_2,mlx5_3", found["MC_MS_FILTERS"])
	assert.NotContains(t, found, "MOONCAKE_DEVICE")

	c.Fabric.GIDIndex = nil
	assert.NotContains(t, values(c), "MC_GID_INDEX")
}
