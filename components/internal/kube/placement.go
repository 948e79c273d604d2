package kube

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Placement says on which nodes pods run. A change restarts the pods one after the other.
type Placement struct {
	// Spread keeps pods of a kind apart: "Required" allows one of them on each node, and a
	// pod that finds no free node waits; "Preferred" (default) spreads them over nodes and
	// zones as far as possible; "Off" leaves it to Kubernetes.
	Spread Spread `json:"spread,omitempty"`

	// NodeSelector lists labels that a node must have. Default: none.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations lists taints that a node may have. Default: none.
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// PriorityClassName is the PriorityClass of the pods. Default: the Kubernetes
	// cluster's default.
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Spread is how far pods are kept apart.
type Spread string

// The spreads.
const (
	Required  Spread = "Required"
	Preferred Spread = "Preferred"
	Off       Spread = "Off"
)

// Choices are the spreads.
func (Spread) Choices() []Spread { return []Spread{Required, Preferred, Off} }

// Toleration is Kubernetes' own: a key without a value tolerates any value.
type Toleration struct {
	// Key of the taint. Default: every key.
	Key string `json:"key,omitempty"`

	// Value of the taint. Default: every value.
	Value string `json:"value,omitempty"`

	// Effect of the taint. Default: every effect.
	Effect TaintEffect `json:"effect,omitempty"`
}

// TaintEffect is what a taint does to pods that do not tolerate it.
type TaintEffect string

// Choices are Kubernetes' own.
func (TaintEffect) Choices() []TaintEffect {
	return []TaintEffect{"NoSchedule", "PreferNoSchedule", "NoExecute"}
}

// Or fills what p leaves out.
func (p Placement) Or(spread Spread) Placement {
	if p.Spread == "" {
		p.Spread = spread
	}
	return p
}

// Validate reports what Kubernetes would refuse.
func (p Placement) Validate(at *field.Path) field.ErrorList {
	errs := ValidateChoice(p.Spread, at.Child("spread"))
	for _, key := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		value := p.NodeSelector[key]
		errs = append(errs, invalid(content.IsLabelKey(key), key, at.Child("nodeSelector"))...)
		errs = append(errs, invalid(content.IsLabelValue(value), value, at.Child("nodeSelector").Key(key))...)
	}
	for i, t := range p.Tolerations {
		at := at.Child("tolerations").Index(i)
		if t.Key == "" && t.Value != "" {
			errs = append(errs, field.Required(at.Child("key"), "a value needs a key"))
		}
		if t.Key != "" { // without one it tolerates every taint
			errs = append(errs, invalid(content.IsLabelKey(t.Key), t.Key, at.Child("key"))...)
		}
		errs = append(errs, invalid(content.IsLabelValue(t.Value), t.Value, at.Child("value"))...)
		if t.Effect != "" {
			errs = append(errs, ValidateChoice(t.Effect, at.Child("effect"))...)
		}
	}
	if p.PriorityClassName != "" {
		errs = append(errs, ValidateObjectName(p.PriorityClassName, at.Child("priorityClassName"))...)
	}
	return errs
}
