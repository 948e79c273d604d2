package spec

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// longestSuffix is the most that is put behind the component's name: Kubernetes
// labels a store's pod with the name of the StatefulSet and a number.
const longestSuffix = len("-store-0123456789")

// maxStores is far more than anybody runs, and few enough to compute with.
const maxStores = 10000

// maxThreads is far more than a machine has cores.
const maxThreads = 1024

// maxDevices is far more than a plugin offers on one node.
const maxDevices = 1000

// Validate reports every problem of a cluster called name, with all defaults
// applied.
//
// It cannot know whether the nodes have the memory, the NICs or the number that is
// asked for (the scheduler says so), whether pods have IPv6 addresses only (no store
// would become ready), whether the image is for the nodes' CPU and accelerator and has
// etcd, whether network policies bind pods in the host's network (mostly not), whether
// the quotas of tenants name every tenant, and whether a Secret or a priority class
// exists.
//
// Much that goes wrong with Mooncake has no check because it cannot be said: there is
// no field for the addresses of processes, for the type of the host's path, for
// capabilities, huge pages or a configuration file, for election by other means than
// etcd, for a grace period apart from the drain's, nor for the type of a Service.
func (c Cluster) Validate(name string, at *field.Path) field.ErrorList {
	errs := kube.ValidateName(name, longestSuffix, at.Child("name"))
	errs = append(errs, kube.ValidateNamespace(c.Namespace, at.Child("namespace"))...)
	errs = append(errs, kube.ValidateImage(c.Image, "name an image with Mooncake, for example kvcacheai/mooncake:0.3.13.post1", at.Child("image"))...)
	errs = append(errs, c.Version.validate(c.Image, at.Child("version"))...)
	errs = append(errs, c.Master.validate(at.Child("master"))...)
	errs = append(errs, c.validateMasters(at)...)
	errs = append(errs, c.validateMetadata(at)...)
	if c.Store.Replicas < 1 || c.Store.Replicas > maxStores {
		errs = append(errs, field.Invalid(at.Child("store", "replicas"), c.Store.Replicas, fmt.Sprintf("must be from 1 to %d", maxStores)))
	}
	errs = append(errs, c.validateSizes(at.Child("store"))...)
	errs = append(errs, c.validateExtraFlags(at.Child("master", "extraFlags"))...)
	errs = append(errs, c.validateExtraEnv(c.Master.ExtraEnv, at.Child("master", "extraEnv"))...)
	errs = append(errs, c.validateExtraEnv(c.Store.ExtraEnv, at.Child("store", "extraEnv"))...)
	errs = append(errs, c.Store.Placement.Validate(at.Child("store", "placement"))...)
	errs = append(errs, kube.ValidateLabels(c.Labels, at.Child("labels"))...)
	errs = append(errs, kube.ValidateAnnotations(c.Annotations, at.Child("annotations"))...)
	errs = append(errs, kube.ValidateValues(c.Master.ExtraFlags, at.Child("master", "extraFlags"))...)
	errs = append(errs, kube.ValidateValues(c.Master.ExtraEnv, at.Child("master", "extraEnv"))...)
	errs = append(errs, kube.ValidateValues(c.Store.ExtraEnv, at.Child("store", "extraEnv"))...)
	errs = append(errs, kube.ValidateText(c.Master.Restart, at.Child("master", "restart"))...)
	errs = append(errs, kube.ValidateText(c.Store.Restart, at.Child("store", "restart"))...)
	errs = append(errs, kube.ValidateText(c.RunVerify, at.Child("runVerify"))...)
	errs = append(errs, c.Store.DisruptionBudget.Validate(max(1, c.Store.Replicas), "there are no more stores", at.Child("store", "disruptionBudget"))...)
	errs = append(errs, kube.ValidateObjectNames(c.ImagePullSecrets, at.Child("imagePullSecrets"))...)
	errs = append(errs, c.validatePorts(at.Child("store"))...)
	errs = append(errs, c.validateDrain(at.Child("store", "drainSeconds"))...)
	errs = append(errs, c.Fabric.validate(c.Version, at.Child("fabric"))...)
	errs = append(errs, kube.ValidateRange(c.TimeoutSeconds, 1, kube.MaxSeconds, at.Child("timeoutSeconds"))...)
	return errs
}

func (m Master) validate(at *field.Path) field.ErrorList {
	errs := m.Resources.Validate(at.Child("resources"))
	errs = append(errs, m.Placement.Validate(at.Child("placement"))...)
	if m.Threads < 0 || m.Threads > maxThreads {
		errs = append(errs, field.Invalid(at.Child("threads"), m.Threads, fmt.Sprintf("must be from 1 to %d; leave it out for Mooncake's own choice", maxThreads)))
	}
	errs = append(errs, kube.ValidateRange(m.LeaseMilliseconds, 1, kube.MaxSeconds*1000, at.Child("leaseMilliseconds"))...)
	errs = append(errs, kube.ValidateRange(m.ClientTTLSeconds, 1, kube.MaxSeconds, at.Child("clientTTLSeconds"))...)
	share := func(value float64, name string) {
		if value <= 0 || value > 1 {
			errs = append(errs, field.Invalid(at.Child(name), value, "must be above 0 and at most 1"))
		}
	}
	share(m.EvictionWatermark, "evictionWatermark")
	share(m.EvictionRatio, "evictionRatio")
	return errs
}

// validatePorts keeps the ports of a store apart.
func (c Cluster) validatePorts(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	port := c.Store.RESTPort
	invalid := func(why string) {
		errs = append(errs, field.Invalid(at.Child("restPort"), port, why))
	}
	switch {
	case port < 1024 || port > 65535:
		invalid("must be between 1024 and 65535")
	case port == HealthPort:
		invalid("is the port of the store's health")
	case port >= TransferPortMin && port <= TransferPortMax:
		invalid(fmt.Sprintf("is one of the Transfer Engine's ports, %d to %d", TransferPortMin, TransferPortMax))
	}
	return errs
}

// Warnings are what a user should know about a cluster that is valid.
func (c Cluster) Warnings() []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if !c.Version.handlesSIGTERM() {
		warn("version: a store of Mooncake %s drops its keys without telling the master when it stops, and a client that reads a key "+
			"of a store that died ends itself unless it runs with LD_PRELOAD=libgcc_s.so.1; 0.3.12 repaired both", c.Version)
	}
	if name := c.Image[strings.LastIndex(c.Image, "/")+1:]; !strings.ContainsAny(name, ":@") || strings.HasSuffix(name, ":latest") {
		warn("image: %q is not pinned: a pod that starts later may run another release than the others", c.Image)
	}
	if r := c.Store.Resources; r.Requests.Memory != r.Limits.Memory {
		warn("store.resources: %s of memory requested and %s allowed: on a node that runs out of memory such a store is killed before others, with its keys",
			r.Requests.Memory, r.Limits.Memory)
	}
	if strings.Contains(c.Image, "lmsysorg/sglang") {
		warn("image: %s is made for nodes with an NVIDIA driver; on others its libraries may not load, use kvcacheai/mooncake", c.Image)
	}
	if c.Store.Replicas == 1 {
		warn("store.replicas: with one store every restart of it loses all keys: there is none to move them to")
	}
	if c.HighAvailability.Enabled() && len(c.HighAvailability.Etcd) == 1 {
		warn("highAvailability.etcd: when this one server is unreachable, the masters have no leader; name all of an etcd cluster, or its Service")
	}
	usesEtcd := c.HighAvailability.Enabled() || c.Metadata.Mode == MetadataEtcd
	if repository, _ := splitImage(c.Image); usesEtcd && isRepository(repository, published) && c.Version.since("0.3.13") {
		warn("image: a public project reports that %s of release %s refuses etcd, unlike the wheel on PyPI; try it before you rely on it, or build an image with the wheel",
			published, c.Version)
	}
	if c.Master.EvictionWatermark == 1 {
		warn("master.evictionWatermark: with 1 nothing is evicted before a put fails")
	}
	if c.Master.ClientTTLSeconds < 5 {
		warn("master.clientTTLSeconds: a store that is busy for %d s is dropped with all its keys", c.Master.ClientTTLSeconds)
	}
	return all
}
