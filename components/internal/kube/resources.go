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
	// CPU in cores or thousandths: "2", "500m".
	CPU string `json:"cpu,omitempty"`

	// Memory in bytes: "512Mi", "10Gi".
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

// Validate reports every amount that is no quantity and every request above its
// limit.
func (r Resources) Validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	pair := func(name, request, limit string) {
		req, requested := parse(request, at.Child("requests", name), &errs)
		lim, limited := parse(limit, at.Child("limits", name), &errs)
		if requested && limited && req.Cmp(lim) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests", name), request, "is more than the limit "+limit))
		}
	}
	pair("cpu", r.Requests.CPU, r.Limits.CPU)
	pair("memory", r.Requests.Memory, r.Limits.Memory)
	return errs
}

func parse(s string, at *field.Path, errs *field.ErrorList) (resource.Quantity, bool) {
	if s == "" {
		return resource.Quantity{}, false
	}
	q, err := Quantity(s, at)
	*errs = append(*errs, err...)
	return q, err == nil
}

// Quantity parses a Kubernetes quantity that must be more than nothing.
func Quantity(s string, at *field.Path) (resource.Quantity, field.ErrorList) {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return q, field.ErrorList{field.Invalid(at, s, "is not a quantity; write it like 512Mi, 10Gi or 500m")}
	}
	if q.Sign() <= 0 {
		return q, field.ErrorList{field.Invalid(at, s, "must be more than zero")}
	}
	return q, nil
}
