package spec

import (
	"fmt"
	"strconv"
)

// StatefulSet is one of those that the cluster's pods come from.
type StatefulSet struct {
	Name string
	Pods int
	// Shard that all its pods serve; "" when that is decided at run time.
	Shard string
}

// StatefulSets returns those of the cluster called name, with all defaults applied,
// in the order in which they are updated.
func (c Cluster) StatefulSets(name string) []StatefulSet {
	if c.Layout != StatefulSetPerShard {
		return []StatefulSet{{Name: name, Pods: c.Pods()}}
	}
	sets := make([]StatefulSet, 0, c.Primaries)
	for shard := range c.Primaries {
		number := strconv.Itoa(shard)
		sets = append(sets, StatefulSet{Name: name + "-" + number, Pods: 1 + c.ReplicasPerPrimary, Shard: number})
	}
	return sets
}

// Member is one node of the cluster. Which of those of a shard is its primary is
// decided at run time: whoever owns slots.
type Member struct {
	StatefulSet string
	Ordinal     int
	Shard       string
}

// Pod returns the name of the member's pod.
func (m Member) Pod() string { return fmt.Sprintf("%s-%d", m.StatefulSet, m.Ordinal) }

// Members returns the nodes of the cluster called name, with all defaults
// applied, in the order in which a new cluster makes them primaries.
func (c Cluster) Members(name string) []Member {
	members := make([]Member, 0, c.Pods())
	for _, set := range c.StatefulSets(name) {
		for ordinal := range set.Pods {
			members = append(members, Member{StatefulSet: set.Name, Ordinal: ordinal, Shard: set.Shard})
		}
	}
	return members
}

// Pods is the number of nodes.
func (c Cluster) Pods() int { return c.Primaries * (1 + c.ReplicasPerPrimary) }

// Host is the name that a member announces to its peers and to clients, and the
// only one that stays the same when the pod gets another address. It has no
// cluster domain, because the server takes at most MaxHost characters.
func (c Cluster) Host(name string, m Member) string {
	return fmt.Sprintf("%s.%s.%s.svc", m.Pod(), name, c.Namespace)
}

// family is a pattern of bash, with its option extglob, for the hosts of every member
// that the cluster has, had or will have, and for no other name.
func (c Cluster) family(name string) string {
	return fmt.Sprintf("%s-+([0-9-]).%s.%s.svc", name, name, c.Namespace)
}

// MaxHost is the longest name that a node can announce: the server keeps it in a
// field made for an IPv6 address (Valkey 9.1 refuses to start with more, older
// versions cut it silently).
const MaxHost = 45

// Hosts returns every member's announced name.
func (c Cluster) Hosts(name string) []string {
	hosts := make([]string, 0, c.Pods())
	for _, m := range c.Members(name) {
		hosts = append(hosts, c.Host(name, m))
	}
	return hosts
}

// Claims returns the names that no other cluster of the namespace may use: those of
// its pods and of what they come from.
func (c Cluster) Claims(name string) []string {
	claims := []string{name}
	for _, set := range c.StatefulSets(name) {
		if set.Name != name {
			claims = append(claims, set.Name)
		}
	}
	for _, m := range c.Members(name) {
		claims = append(claims, m.Pod())
	}
	return claims
}
