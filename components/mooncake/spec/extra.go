package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// extraFlags are the flags of a master that a user may set, with the release that
// brought each; "" is every known one. As the releases' own --help lists them. What
// is missing belongs to the component, or to glog and gflags, which have nothing
// for a pod.
func extraFlags() map[string]Version {
	all := map[string]Version{}
	for since, names := range map[Version]string{
		"": `allow_evict_soft_pinned_objects default_kv_soft_pin_ttl enable_metric_reporting global_file_segment_size
			memory_allocator minloglevel root_fs_dir rpc_conn_timeout_seconds rpc_enable_tcp_no_delay v vmodule`,
		"0.3.8":       `enable_disk_eviction enable_offload put_start_discard_timeout_sec put_start_release_timeout_sec quota_bytes`,
		"0.3.8.post1": `max_total_finished_tasks max_total_pending_tasks max_total_processing_tasks`,
		"0.3.9":       `cxl_path cxl_size enable_cxl`,
		"0.3.10": `allocation_strategy enable_snapshot enable_snapshot_restore max_retry_attempts pending_task_timeout_sec
			processing_task_timeout_sec snapshot_backup_dir snapshot_child_timeout_seconds snapshot_interval_seconds
			snapshot_retention_count`,
		"0.3.10.post1": `snapshot_catalog_store_connstring snapshot_catalog_store_type snapshot_object_store_type`,
		"0.3.11": `nof_eviction_high_watermark_ratio nof_eviction_ratio nof_heartbeat_failures_threshold nof_heartbeat_interval_sec
			nof_heartbeat_probe_timeout_ms offload_force_evict offload_on_evict promotion_admission_threshold promotion_on_hit
			promotion_queue_limit`,
		"0.3.12": `enable_kv_events enable_metadata_cleanup_on_timeout enable_multi_tenants kv_events_additional_salt
			kv_events_backend_id kv_events_bind_endpoint kv_events_block_size kv_events_dp_rank kv_events_emit_legacy_compat
			kv_events_emit_object_key kv_events_lora_name kv_events_model_name kv_events_queue_capacity kv_events_tenant_id
			offload_cap_ratio offloading_queue_limit promotion_max_per_heartbeat tenant_quota_connector_type
			tenant_quota_connector_uri`,
		"0.3.13": `batch_oplog_retry_timeout_sec dynamic_replication_admission_qps_threshold
			dynamic_replication_heat_window_seconds dynamic_replication_max_memory_replicas dynamic_replication_mode enable_oplog
			max_kv_soft_pin_ttl oplog_batch_max_entries oplog_poll_interval_ms`,
	} {
		for _, name := range strings.Fields(names) {
			all[name] = since
		}
	}
	return all
}

// fieldOf names the field to use in place of a flag or a variable that the
// component sets itself.
func fieldOf(name string) string {
	return map[string]string{
		"rpc_thread_num": "master.threads", "max_threads": "master.threads",
		"default_kv_lease_ttl":          "master.leaseMilliseconds",
		"eviction_high_watermark_ratio": "master.evictionWatermark", "eviction_ratio": "master.evictionRatio",
		"client_ttl": "master.clientTTLSeconds",
		"enable_ha":  "highAvailability", "etcd_endpoints": "highAvailability",
		"ha_backend_type": "highAvailability", "ha_backend_connstring": "highAvailability",
		"cluster_id":                  "clusterId",
		"enable_http_metadata_server": "metadata.mode", "http_metadata_server_port": "metadata.mode",
		"MOONCAKE_GLOBAL_SEGMENT_SIZE": "store.segmentSize", "MOONCAKE_LOCAL_BUFFER_SIZE": "store.localBufferSize",
		"MOONCAKE_PROTOCOL": "fabric.mode", "MOONCAKE_DEVICE": "fabric.nics", "MC_MS_AUTO_DISC": "fabric.mode",
		"MC_MS_FILTERS": "fabric.nicFilters", "MC_ENABLE_DEST_DEVICE_AFFINITY": "fabric.tuning.sameRail",
		"MC_SLICE_SIZE": "fabric.tuning.sliceSize", "MC_MAX_MR_SIZE": "fabric.tuning.maxRegionSize",
		"MOONCAKE_TE_META_DATA_SERVER": "metadata.mode", "MC_STORE_CLUSTER_ID": "clusterId", "MC_METADATA_CLUSTER_ID": "clusterId",
	}[name]
}

func (c Cluster) validateExtraFlags(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := extraFlags()
	for _, name := range slices.Sorted(maps.Keys(c.Master.ExtraFlags)) {
		since, ok := known[name]
		switch at := at.Key(name); {
		case fieldOf(name) != "":
			errs = append(errs, field.Forbidden(at, "is set by the component: use "+fieldOf(name)))
		case !ok:
			errs = append(errs, field.Forbidden(at, "is no flag of mooncake_master that may be set here; a master stops at one that it does not know"))
		case since != "" && !c.Version.since(since):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("Mooncake %s has no flag --%s: it exists since %s", c.Version, name, since)))
		}
	}
	return append(errs, c.validateCombinations(at)...)
}

// noVolume is why some of Mooncake's own features are refused.
const noVolume = ", and the pods have no volume for it"

// validateCombinations reports flags that a master of the release knows and that
// cannot work in this cluster.
func (c Cluster) validateCombinations(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	flags := c.Master.ExtraFlags
	forbidden := func(name, why string) { errs = append(errs, field.Forbidden(at.Key(name), why)) }
	if on(flags["enable_oplog"]) && !c.HighAvailability.Enabled() {
		forbidden("enable_oplog", "needs highAvailability: a master without it stops")
	}
	for _, name := range []string{"enable_offload", "root_fs_dir", "enable_cxl"} {
		if value := flags[name]; on(value) || strings.HasPrefix(value, "/") {
			forbidden(name, "needs a disk or device in each store"+noVolume)
		}
	}
	if on(flags["enable_snapshot"]) && flags["snapshot_object_store_type"] != "s3" {
		forbidden("enable_snapshot", "keeps snapshots in a directory"+noVolume+"; with snapshot_object_store_type: s3 it needs none")
	}
	if on(flags["enable_multi_tenants"]) && (flags["tenant_quota_connector_type"] != "etcd" || flags["tenant_quota_connector_uri"] == "") {
		forbidden("enable_multi_tenants", "refuses every write of a tenant without a quota, also of the one called default: "+
			"set tenant_quota_connector_type: etcd and tenant_quota_connector_uri; a file with quotas would need a volume")
	}
	if size, err := resource.ParseQuantity(c.Store.SegmentSize); err == nil && flags["memory_allocator"] == "cachelib" && size.Value()%(16<<20) != 0 {
		forbidden("memory_allocator", fmt.Sprintf("cachelib takes segments of a multiple of 16Mi, and store.segmentSize is %s", c.Store.SegmentSize))
	}
	return errs
}

// on says whether a flag or variable with that value turns something on.
func on(value string) bool { return value != "" && value != "false" && value != "0" }

// validateExtraEnv reports variables that the component sets or that would break
// what it promises.
func (c Cluster) validateExtraEnv(extra map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		at := at.Key(name)
		switch {
		case !isVariable(name):
			errs = append(errs, field.Invalid(at, name, "is not the name of a variable: letters, digits and '_'"))
		case fieldOf(name) != "":
			errs = append(errs, field.Forbidden(at, "is set by the component: use "+fieldOf(name)))
		case slices.Contains(owned(), name):
			errs = append(errs, field.Forbidden(at, "is set by the component and cannot be changed"))
		case slices.ContainsFunc(c.Fabric.parameters(), func(p parameter) bool { return p.variable == name }):
			errs = append(errs, field.Forbidden(at, "has a field of its own in fabric"))
		case name == "MC_STORE_USE_HUGEPAGE":
			errs = append(errs, field.Forbidden(at, "would need huge pages in the pod's limits, which the component cannot ask for"))
		case name == "MC_FORCE_TCP":
			errs = append(errs, field.Forbidden(at, "is what fabric.mode tcp does; with RDMA it would move the data over TCP"))
		case !c.Version.has(name):
			errs = append(errs, c.Version.tooOld(at, name))
		case name == "MOONCAKE_OFFLOAD_ENABLED" && on(extra[name]):
			errs = append(errs, field.Forbidden(at, "needs a disk in each store"+noVolume))
		case name == hotCacheVariable && !isNumber(extra[name]):
			errs = append(errs, field.Invalid(at, extra[name], "must be a number of bytes: Mooncake reads no unit here"))
		}
	}
	return errs
}

// owned are the variables that the component sets and that follow from no field.
func owned() []string {
	return []string{
		"POD_IP", "MOONCAKE_MASTER", "MOONCAKE_CONFIG_PATH", "MOONCAKE_LOCAL_HOSTNAME", "LOCAL_HOSTNAME",
		"MOONCAKE_ENABLE_CLIENT_HTTP_SERVER", "MOONCAKE_CLIENT_HTTP_PORT", "MC_FORCE_HCA", "MC_TCP_BIND_ADDRESS", "LD_PRELOAD",
		"MC_RPC_TIMEOUT_MS", "MC_RPC_CONNECT_TIMEOUT_MS", "MC_MIN_PRC_PORT", "MC_MAX_PRC_PORT", "MC_MIN_RPC_PORT", "MC_MAX_RPC_PORT",
	}
}

func isNumber(value string) bool {
	_, err := strconv.ParseUint(value, 10, 63)
	return err == nil
}

func isVariable(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// extraVariables are what the user adds, in a stable order.
func extraVariables(extra map[string]string) []Variable {
	var variables []Variable
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		variables = append(variables, Variable{Name: name, Value: extra[name]})
	}
	return variables
}
