package kube

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resources is what one container asks for and what it may not exceed.
type Resources struct {
	// Requests are what a node must have free for the container. Memory defaults to the
	// limit.
	Requests Amounts `json:"requests,omitzero"`

	// Limits are what the container may not exceed. Memory defaults to the request. CPU
	// has no limit by default: throttling a server delays every client.
	Limits Amounts `json:"limits,omitzero"`
}

// Amounts are Kubernetes quantities, for example cpu "500m", memory "2Gi".
type Amounts struct {
	// CPU in cores or thousandths: "2", "500m". From 1m to 10000.
	CPU string `json:"cpu,omitempty"`

	// Memory in bytes: "512Mi", "10Gi". From 16Mi to 1Pi.
	Memory string `json:"memory,omitempty"`
}

// Or fills what r leaves out. A missing memory request becomes the memory limit, and
// the other way round, so that the node keeps what the process may use. CPU has no
// limit unless one is asked for: throttling a server delays every client.
func (r Resources) Or(d Resources) Resources {
	Fill(&r.Limits.Memory, r.Requests.Memory)
	Fill(&r.Limits.Memory, d.Limits.Memory)
	Fill(&r.Limits.CPU, d.Limits.CPU)
	Fill(&r.Requests.CPU, d.Requests.CPU)
	Fill(&r.Requests.Memory, d.Requests.Memory)
	Fill(&r.Requests.Memory, r.Limits.Memory)
	return r
}

// Validate reports every amount that cannot be meant and every request above its
// limit.
func (r Resources) Validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	pair := func(name, request, limit string, parse func(string, *field.Path) (resource.Quantity, field.ErrorList)) {
		amount := func(s string, at *field.Path) (resource.Quantity, bool) {
			if s == "" {
				return resource.Quantity{}, false
			}
			q, problems := parse(s, at)
			errs = append(errs, problems...)
			return q, len(problems) == 0
		}
		req, requested := amount(request, at.Child("requests", name))
		lim, limited := amount(limit, at.Child("limits", name))
		if requested && limited && req.Cmp(lim) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests", name), request, "is more than the limit "+limit))
		}
	}
	pair("cpu", r.Requests.CPU, r.Limits.CPU, CPU)
	pair("memory", r.Requests.Memory, r.Limits.Memory, Memory)
	return errs
}

// Bounds that are far from what anybody means, and near enough to compute with: sums
// and multiples of a few such amounts still are whole numbers of 64 bits.
const (
	leastMemory = "16Mi" // no server of a component starts with less
	mostMemory  = "1Pi"
	mostBytes   = "64Pi" // of a volume
	leastCPU    = "1m"
	mostCPU     = "10k"
)

const (
	likeBytes = "; write it like 512Mi or 10Gi"
	likeCPU   = "; write it like 500m or 2"
)

// CPU parses a number of cores.
func CPU(s string, at *field.Path) (resource.Quantity, field.ErrorList) {
	q, errs := between(s, leastCPU, mostCPU, likeCPU, at)
	if len(errs) == 0 && resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI).Cmp(q) != 0 {
		errs = append(errs, field.Invalid(at, s, "is no whole number of thousandths"+likeCPU))
	}
	return q, errs
}

// Memory parses the memory of a container.
func Memory(s string, at *field.Path) (resource.Quantity, field.ErrorList) {
	return wholeBytes(s, leastMemory, mostMemory, at)
}

// Bytes parses any other number of bytes, for example of a volume.
func Bytes(s string, at *field.Path) (resource.Quantity, field.ErrorList) {
	return wholeBytes(s, "1", mostBytes, at)
}

// wholeBytes also finds "512m", which is half a byte and not 512Mi.
func wholeBytes(s, least, most string, at *field.Path) (resource.Quantity, field.ErrorList) {
	q, errs := between(s, "0", most, likeBytes, at)
	if len(errs) == 0 && resource.NewQuantity(q.Value(), resource.BinarySI).Cmp(q) != 0 {
		return q, field.ErrorList{field.Invalid(at, s, "is no whole number of bytes (m means thousandths)"+likeBytes)}
	}
	if len(errs) > 0 {
		return q, errs
	}
	return between(s, least, most, likeBytes, at)
}

// between parses a quantity that must be more than nothing, too.
func between(s, least, most, like string, at *field.Path) (resource.Quantity, field.ErrorList) {
	q, err := resource.ParseQuantity(s)
	why := ""
	switch {
	case err != nil:
		why = "is not a quantity"
	case q.Sign() <= 0:
		why = "must be more than zero"
	case q.Cmp(resource.MustParse(least)) < 0:
		why = "must be at least " + least
	case q.Cmp(resource.MustParse(most)) > 0:
		why = "must be at most " + most
	default:
		return q, nil
	}
	return q, field.ErrorList{field.Invalid(at, s, why+like)}
}
