package spec

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// Version is a release of Mooncake, as its wheel is numbered: 0.3.13.post1.
type Version string

// Choices are the releases that this package knows, the oldest first.
func (Version) Choices() []Version {
	return []Version{
		"0.3.7.post2", "0.3.8", "0.3.8.post1", "0.3.9", "0.3.10", "0.3.10.post1", "0.3.10.post2",
		"0.3.11", "0.3.11.post1", "0.3.12", "0.3.12.post1", "0.3.13", "0.3.13.post1",
	}
}

// since says whether v is that release or a newer one.
func (v Version) since(first Version) bool {
	return slices.Index(v.Choices(), v) >= slices.Index(v.Choices(), first)
}

// versionOf returns the release in an image whose tags are known to tell it, ""
// in any other.
func versionOf(image string) Version {
	repository, tag := splitImage(image)
	if v := Version(strings.TrimSuffix(tag, "-cuda13")); isRepository(repository, published) && slices.Contains(v.Choices(), v) {
		return v
	}
	if isRepository(repository, "lmsysorg/sglang") && tag == "v0.5.5" {
		return "0.3.7.post2"
	}
	return ""
}

// published is the repository of Mooncake's own images.
const published = "kvcacheai/mooncake"

// splitImage returns an image's repository, with its registry, and its tag.
func splitImage(image string) (repository, tag string) {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		return image[:colon], image[colon+1:]
	}
	return image, ""
}

// isRepository says whether a repository is the one called name, or a mirror of it.
func isRepository(repository, name string) bool {
	return repository == name || strings.HasSuffix(repository, "/"+name)
}

func (v Version) validate(image string, at *field.Path) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(at, fmt.Sprintf(
			"say which Mooncake is in image %q; it is only known of kvcacheai/mooncake:VERSION and lmsysorg/sglang:v0.5.5", image))}
	}
	return kube.ValidateChoice(v, at)
}

// gate says in which releases something exists: from Since on, and before Until.
type gate struct{ Since, Until Version }

// gates are the variables, flags and interfaces that not every release has. A
// master stops at a flag that it does not know; a variable that nobody reads
// would look as if it did something. Read in the releases' own binaries.
func gates() map[string]gate {
	return map[string]gate{
		"MOONCAKE_LOCAL_BUFFER_SIZE":         {Since: "0.3.8"}, // before, 1 GiB whatever it says
		"MOONCAKE_ENABLE_CLIENT_HTTP_SERVER": {Since: "0.3.12"},
		"MOONCAKE_CLIENT_HTTP_PORT":          {Since: "0.3.12"},
		"MC_FORCE_HCA":                       {Since: "0.3.8"},
		"MC_IB_TC":                           {Since: "0.3.8"},
		"MC_IB_SL":                           {Since: "0.3.12"},
		"MC_PKEY_INDEX":                      {Since: "0.3.11"},
		"MC_MAX_MR_SIZE":                     {Since: "0.3.10.post2"},
		"MOONCAKE_TENANT_ID":                 {Since: "0.3.12"},
		"MC_HANDSHAKE_CONNECT_TIMEOUT":       {Since: "0.3.12"},
		"MC_RDMA_BIND_ADDRESS":               {Since: "0.3.12"},
		"MC_RPC_TIMEOUT_MS":                  {Since: "0.3.12"},
		"MC_RPC_CONNECT_TIMEOUT_MS":          {Since: "0.3.12"},
		// Before, a master that waits answers no probe; and until 0.3.11.post1 masters and
		// clients have different defaults for the cluster's id.
		"high availability": {Since: "0.3.10.post2"},
		"drain_jobs":        {Since: "0.3.12"},
		// Where peers dial each store, and how full it is.
		"get_segments_detail": {Since: "0.3.12"},
		// Reading a key of a store that died ends the reader: the wheel's own libunwind
		// breaks exceptions. With the system's library loaded first it does not.
		"LD_PRELOAD": {Until: "0.3.12"},
	}
}

// has says whether the release has what is gated by name.
func (v Version) has(name string) bool {
	g := gates()[name]
	return (g.Since == "" || v.since(g.Since)) && (g.Until == "" || !v.since(g.Until))
}

// keep drops the variables that the release does not read.
func (v Version) keep(variables []Variable) []Variable {
	return slices.DeleteFunc(variables, func(x Variable) bool { return !v.has(x.Name) })
}

// tooOld is the problem of a setting that the release lacks.
func (v Version) tooOld(at *field.Path, name string) *field.Error {
	return field.Forbidden(at, fmt.Sprintf("Mooncake %s has no %s: it exists since %s", v, name, gates()[name].Since))
}

// handlesSIGTERM says whether a store and a single master end when they are told.
func (v Version) handlesSIGTERM() bool { return v.since("0.3.12") }
