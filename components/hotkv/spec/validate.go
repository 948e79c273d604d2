package spec

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// longestSuffix is what the component puts behind its name in an object's name:
// "-converge-" and eight characters of a hash.
const longestSuffix = len("-converge-00000000")

// Validate reports every problem of a cluster called name, with all defaults
// applied.
func (c Cluster) Validate(name string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	invalid := func(path *field.Path, value any, why string) {
		errs = append(errs, field.Invalid(path, value, why))
	}

	errs = append(errs, kube.ValidateName(name, longestSuffix, at.Child("name"))...)
	errs = append(errs, kube.ValidateNamespace(c.Namespace, at.Child("namespace"))...)
	errs = append(errs, kube.ValidateImage(c.Image, "name the image of the server, for example valkey/valkey:9.1", at.Child("image"))...)
	errs = append(errs, kube.ValidateChoice(c.Server, at.Child("server"))...)
	errs = append(errs, kube.ValidateChoice(c.Layout, at.Child("layout"))...)
	errs = append(errs, c.Placement.Validate(at.Child("placement"))...)
	errs = append(errs, c.validateSettings(at)...)
	errs = append(errs, c.validatePassword(at.Child("passwordFrom"))...)
	errs = append(errs, kube.ValidateObjectNames(c.ImagePullSecrets, at.Child("imagePullSecrets"))...)
	errs = append(errs, kube.ValidateLabels(c.Labels, at.Child("labels"))...)
	errs = append(errs, kube.ValidateAnnotations(c.Annotations, at.Child("annotations"))...)
	errs = append(errs, kube.ValidateText(c.Restart, at.Child("restart"))...)
	errs = append(errs, kube.ValidateText(c.RunConverge, at.Child("runConverge"))...)
	errs = append(errs, kube.ValidateText(c.AcceptDataLoss, at.Child("acceptDataLoss"))...)
	if c.Primaries < 3 {
		invalid(at.Child("primaries"), c.Primaries, "must be at least 3: fewer cannot vote out a dead primary")
	}
	if c.ReplicasPerPrimary < 1 {
		invalid(at.Child("replicasPerPrimary"), c.ReplicasPerPrimary, "must be at least 1: without a replica every restart is an outage")
	}
	if c.Primaries > maxNodes || c.ReplicasPerPrimary > maxNodes || c.Primaries > 0 && c.Pods() > maxNodes {
		invalid(at.Child("primaries"), c.Primaries, fmt.Sprintf("with replicasPerPrimary %d makes too many nodes: a cluster has at most %d", c.ReplicasPerPrimary, maxNodes))
	}
	if c.NodeTimeoutSeconds < 1 || c.NodeTimeoutSeconds > 60 {
		invalid(at.Child("nodeTimeoutSeconds"), c.NodeTimeoutSeconds, "must be from 1 to 60")
	}
	errs = append(errs, kube.ValidateRange(c.TimeoutSeconds, 1, kube.MaxSeconds, at.Child("timeoutSeconds"))...)
	errs = append(errs, c.validateStorage(at.Child("storage"))...)
	errs = append(errs, c.DisruptionBudget.Validate(max(1, c.ReplicasPerPrimary), "a shard keeps one of its copies", at.Child("disruptionBudget"))...)
	resources := c.Resources.Validate(at.Child("resources"))
	if percent := c.Memory.Percent; len(resources) == 0 && percent >= 10 && percent <= 80 && c.MaxMemory() < leastMaxMemory {
		resources = append(resources, field.Invalid(at.Child("resources", "limits", "memory"), c.Resources.Limits.Memory, fmt.Sprintf(
			"leaves %d KiB for data with memory.percent %d; it must leave at least %d KiB: an empty server takes some of it", c.MaxMemory()>>10, percent, leastMaxMemory>>10)))
	}
	errs = append(errs, resources...)

	// The longest host is the last one, and it is only known when the rest is right.
	if len(errs) == 0 {
		hosts := c.Hosts(name)
		if longest := hosts[len(hosts)-1]; len(longest) > MaxHost {
			invalid(at.Child("namespace"), c.Namespace, fmt.Sprintf(
				"makes the announced name %s %d characters long; the server takes at most %d: shorten the namespace or the name of the cluster (it counts twice)",
				longest, len(longest), MaxHost))
		}
	}
	return errs
}

func (c Cluster) validatePassword(at *field.Path) field.ErrorList {
	from := c.PasswordFrom
	if from == (SecretKey{}) {
		return nil
	}
	if from.Name == "" || from.Key == "" {
		return field.ErrorList{field.Required(at, "name both the Secret and the key")}
	}
	return append(kube.ValidateObjectName(from.Name, at.Child("name")), kube.ValidateDataKey(from.Key, at.Child("key"))...)
}

// leastMaxMemory is what a server of a cluster takes before it has data (2.5 MiB),
// with room for some: with less it would refuse every write.
const leastMaxMemory = 8 << 20

// maxNodes is the largest cluster that the protocol's authors recommend.
const maxNodes = 1000
