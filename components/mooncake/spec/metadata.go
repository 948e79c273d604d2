package spec

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// Metadata says where Transfer Engines learn how to reach each other. Clients must
// have the same. A change restarts the stores, one after the other, and before them
// the master if the old or the new mode is http, so that it forgets every key; until
// the last store is back, stores with the old and the new setting do not reach each
// other.
type Metadata struct {
	// Mode is "p2p" (default: each engine keeps its own and tells a peer when it
	// connects), "http" (the master has a server for it, in its memory) or "etcd".
	Mode MetadataMode `json:"mode,omitempty"`

	// Etcd are the servers to use, host:port each, without TLS or password: Mooncake
	// has neither. Only with mode etcd. The entries of a store that was killed stay there.
	Etcd []string `json:"etcd,omitempty"`
}

// MetadataMode is a place for the metadata of Transfer Engines.
type MetadataMode string

// The places for metadata. Redis is not among them: no released wheel has it.
const (
	MetadataP2P  MetadataMode = "p2p"
	MetadataHTTP MetadataMode = "http"
	MetadataEtcd MetadataMode = "etcd"
)

// Choices are the places.
func (MetadataMode) Choices() []MetadataMode {
	return []MetadataMode{MetadataP2P, MetadataHTTP, MetadataEtcd}
}

// HighAvailability runs several masters, of which one leads and the others wait. It
// keeps the service, not the keys: a new leader starts with an empty index, about
// 10 s after the old one ended. Turned on or off, it makes new masters, restarts the
// stores and then removes the old masters; every key is forgotten.
type HighAvailability struct {
	// Etcd are the servers in which the masters elect their leader, host:port each,
	// without TLS or password: Mooncake has neither. Default: none, which means one
	// master. A change restarts the masters, and then the stores; every key is forgotten.
	Etcd []string `json:"etcd,omitempty"`
}

// Enabled says whether there are several masters.
func (h HighAvailability) Enabled() bool { return len(h.Etcd) > 0 }

// ClusterIDFor returns the name of the cluster called name in an etcd, which other
// clusters may use too.
func (c Cluster) ClusterIDFor(name string) string {
	if c.ClusterID != "" {
		return c.ClusterID
	}
	return c.Namespace + "." + name
}

// MetadataServer is what stores and clients of the cluster called name set as
// MOONCAKE_TE_META_DATA_SERVER.
func (c Cluster) MetadataServer(name string) string {
	switch c.Metadata.Mode {
	case MetadataHTTP:
		return fmt.Sprintf("http://%s.%s.svc:%d/metadata", c.MasterName(name), c.Namespace, MetadataPort)
	case MetadataEtcd:
		return etcdURL(c.Metadata.Etcd)
	default:
		return "P2PHANDSHAKE" // Mooncake takes no other spelling
	}
}

// etcdURL is how Mooncake takes several servers.
func etcdURL(servers []string) string { return "etcd://" + strings.Join(servers, ";") }

func (c Cluster) validateMetadata(at *field.Path) field.ErrorList {
	mode, servers := at.Child("metadata", "mode"), at.Child("metadata", "etcd")
	errs := kube.ValidateChoice(c.Metadata.Mode, mode)
	if c.Metadata.Mode == MetadataEtcd && len(c.Metadata.Etcd) == 0 {
		errs = append(errs, field.Required(servers, "name the servers, for example [etcd.infra.svc:2379]"))
	}
	if c.Metadata.Mode != MetadataEtcd && len(c.Metadata.Etcd) > 0 {
		errs = append(errs, field.Forbidden(servers, fmt.Sprintf("is only for metadata.mode %s: remove it, or set that", MetadataEtcd)))
	}
	errs = append(errs, validateServers(c.Metadata.Etcd, servers)...)
	if c.HighAvailability.Enabled() && c.Metadata.Mode == MetadataHTTP {
		errs = append(errs, field.Forbidden(mode, "each of several masters would have metadata of its own: use p2p or etcd with highAvailability"))
	}
	if c.ClusterID != "" && !regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`).MatchString(c.ClusterID) {
		errs = append(errs, field.Invalid(at.Child("clusterId"), c.ClusterID, "must be letters, digits, '.', '_' and '-', without '/': it is part of a key in etcd"))
	}
	return errs
}

func (c Cluster) validateMasters(at *field.Path) field.ErrorList {
	replicas, servers := at.Child("master", "replicas"), at.Child("highAvailability", "etcd")
	errs := validateServers(c.HighAvailability.Etcd, servers)
	if !c.HighAvailability.Enabled() {
		if c.Master.Replicas != 1 {
			errs = append(errs, field.Invalid(replicas, c.Master.Replicas, "must be 1 without highAvailability.etcd: several masters would know some of the keys each"))
		}
		return errs
	}
	if c.Master.Replicas < 2 || c.Master.Replicas > 3 {
		errs = append(errs, field.Invalid(replicas, c.Master.Replicas, "must be 2 or 3 with highAvailability: one leads, the others wait"))
	}
	if !c.Version.has("high availability") {
		errs = append(errs, c.Version.tooOld(servers, "high availability"))
	}
	return errs
}

func validateServers(servers []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if n, notNumber := strconv.Atoi(port); err != nil || notNumber != nil || n < 1 || n > 65535 || host == "" || strings.ContainsAny(host, "/,; ") {
			errs = append(errs, field.Invalid(at.Index(i), server, "is not host:port of one server"))
		} else if slices.Contains(servers[:i], server) {
			errs = append(errs, field.Duplicate(at.Index(i), server))
		}
	}
	return errs
}
