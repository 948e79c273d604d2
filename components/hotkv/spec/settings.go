package spec

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// SecretKey is one key of a Secret.
type SecretKey struct {
	// Name of the Secret, which is in the cluster's namespace.
	Name string `json:"name,omitempty"`

	// Key in the Secret.
	Key string `json:"key,omitempty"`
}

// Memory says how much of a server's memory is for data. A change is a rolling
// restart.
type Memory struct {
	// Percent of the memory limit that data may use. Default 60, from 10 to 80. The rest
	// is for answers that clients have not read yet, and for memory pages that change
	// while the server writes its files.
	Percent int `json:"percent,omitempty"`

	// Policy is what the server does when that memory is full. These are Valkey's own:
	// "noeviction" (default) refuses writes, the others evict keys.
	Policy Policy `json:"policy,omitempty"`
}

// Policy is what a server does whose memory for data is full.
type Policy string

// Choices are Valkey's own.
func (Policy) Choices() []Policy {
	return []Policy{"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}
}

// Durability is what counts more when a primary is lost.
type Durability string

// The durabilities.
const (
	Durable Durability = "durable" // that no acknowledged write is
	Cache   Durability = "cache"   // that the cluster serves again
)

// Choices are the durabilities.
func (Durability) Choices() []Durability { return []Durability{Durable, Cache} }

// MaxMemory is how many bytes of data a server takes.
func (c Cluster) MaxMemory() int64 {
	limit, err := resource.ParseQuantity(c.Resources.Limits.Memory)
	if err != nil {
		return 0 // reported by Validate
	}
	return limit.Value() / 100 * int64(c.Memory.Percent)
}

// Arguments are those of the servers of the cluster called name. POD_NAME is a
// variable of each pod.
func (c Cluster) Arguments(name string) []string {
	validity := "10"
	if c.Durability == Cache {
		validity = "0" // a replica may take over however old its data is
	}
	arguments := []string{
		"--dir", "/data",
		"--appendonly", "yes",
		"--cluster-enabled", "yes",
		"--cluster-announce-ip", fmt.Sprintf("$(POD_NAME).%s.%s.svc", name, c.Namespace),
		// A replica that moves to another shard by itself breaks the layout.
		"--cluster-allow-replica-migration", "no",
		"--cluster-node-timeout", strconv.Itoa(c.NodeTimeoutSeconds * 1000),
		"--cluster-replica-validity-factor", validity,
		// Writes stand still while a handover waits for votes.
		"--cluster-manual-failover-timeout", "2000",
		// With one or two replicas there is nobody to wait for: they are in sync 5 s sooner.
		"--repl-diskless-sync-delay", "0",
		"--shutdown-on-sigterm", "failover",
		"--maxmemory", strconv.FormatInt(c.MaxMemory(), 10),
		"--maxmemory-policy", string(c.Memory.Policy),
	}
	for _, setting := range slices.Sorted(maps.Keys(c.Settings)) {
		arguments = append(arguments, "--"+setting)
		words := strings.Fields(c.Settings[setting])
		if len(words) == 0 {
			words = []string{""}
		}
		arguments = append(arguments, words...)
	}
	return arguments
}

// VersionArguments let a server show which version of the pods it is of, where only
// people look otherwise: in the name that it has in other servers' logs.
func VersionArguments(version string) []string {
	return []string{"--cluster-announce-human-nodename", version}
}

// owned are patterns of settings that the cluster depends on, with what is instead.
func owned() []struct{ pattern, instead string } {
	const nothing = "the cluster depends on it"
	return []struct{ pattern, instead string }{
		{"maxmemory", "set memory.percent"},
		{"maxmemory-policy", "set memory.policy"},
		{"cluster-node-timeout", "set nodeTimeoutSeconds"},
		{"cluster-*-validity-factor", "set durability"},
		{"requirepass", "set passwordFrom"},
		{"cluster-*", nothing}, {"shutdown-*", nothing}, {"appendonly", nothing}, {"appenddirname", nothing}, {"appendfilename", nothing},
		{"dir", nothing}, {"include", nothing}, {"port", nothing}, {"bind*", nothing}, {"tls-*", nothing}, {"protected-mode", nothing},
		{"masterauth", nothing}, {"masteruser", nothing}, {"primaryauth", nothing}, {"primaryuser", nothing}, {"aclfile", nothing},
		{"user", nothing}, {"rename-command", nothing}, {"replicaof", nothing}, {"slaveof", nothing}, {"daemonize", nothing},
		{"supervised", nothing}, {"pidfile", nothing}, {"logfile", nothing}, {"repl-diskless-sync-delay", nothing},
	}
}

func (c Cluster) validateSettings(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, setting := range slices.Sorted(maps.Keys(c.Settings)) {
		here, value := at.Child("settings").Key(setting), c.Settings[setting]
		if setting == "" || strings.Trim(setting, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			errs = append(errs, field.Invalid(here, setting, "is not the name of a setting: small letters, digits and hyphens"))
		}
		if strings.ContainsAny(value, "\r\n") || slices.ContainsFunc(strings.Fields(value), func(word string) bool { return strings.HasPrefix(word, "--") }) {
			errs = append(errs, field.Invalid(here, value, "is more than one setting: give each its own line"))
		}
		if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
			errs = append(errs, field.Invalid(here, value, "has a control character in it"))
		}
		if strings.Contains(value, "$(") {
			errs = append(errs, field.Invalid(here, value, "Kubernetes would take $( for a variable"))
		}
		for _, o := range owned() {
			if match, err := path.Match(o.pattern, setting); err != nil || match {
				errs = append(errs, field.Forbidden(here, o.instead))
				break
			}
		}
	}
	if c.Memory.Percent < 10 || c.Memory.Percent > 80 {
		errs = append(errs, field.Invalid(at.Child("memory", "percent"), c.Memory.Percent, "must be from 10 to 80"))
	}
	errs = append(errs, kube.ValidateChoice(c.Memory.Policy, at.Child("memory", "policy"))...)
	errs = append(errs, kube.ValidateChoice(c.Durability, at.Child("durability"))...)
	return errs
}
