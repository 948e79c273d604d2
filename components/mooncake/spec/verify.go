package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// VerifyVariables tell the script that moves data between all stores about the
// cluster called name.
func (c Cluster) VerifyVariables(name string) []Variable {
	var stores []string
	for ordinal := range c.Store.Replicas {
		pod := fmt.Sprintf("%s-%d", StoreName(name), ordinal)
		stores = append(stores, fmt.Sprintf("%s=%s.%s.%s.svc:%d", pod, pod, StoreName(name), c.Namespace, c.Store.RESTPort))
	}
	return []Variable{
		{Name: "STORES", Value: strings.Join(stores, " ")},
		{Name: "MASTER", Value: c.AdminAddress(name)},
		{Name: "SEGMENT_BYTES", Value: bytes(c.Store.SegmentSize)},
		{Name: "PROTOCOL", Value: c.Fabric.Protocol()},
		{Name: "LISTS_ENDPOINTS", Value: strconv.FormatBool(c.Version.has("get_segments_detail"))},
		{Name: "METADATA", Value: c.MetadataServer(name)},
		{Name: "CLUSTER_ID", Value: c.ClusterIDFor(name)},
		// A store that was replaced is shown until the master misses it.
		{Name: "FORGET_SECONDS", Value: strconv.Itoa(c.Master.ClientTTLSeconds + 5)},
		// A master that was replaced gets its stores back after half a minute at worst.
		{Name: "SETTLE_SECONDS", Value: strconv.Itoa(c.Master.ClientTTLSeconds + 60)},
		{Name: "LEASE_SECONDS", Value: number(float64(c.Master.LeaseMilliseconds) / 1000)},
		{Name: "DEADLINE_SECONDS", Value: strconv.Itoa(c.TimeoutSeconds)},
	}
}
