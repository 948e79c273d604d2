package spec

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// Overhead is what a store needs beside its segment and its buffer. Measured over
// TCP with 0.3.13: 94Mi when empty, 105Mi when full; 128Mi held while filling.
const Overhead = "128Mi"

// minSegment is the smallest segment that Mooncake registers, minBuffer the
// smallest buffer that serves a REST call; with 0 every call fails.
const (
	minSegment = "16Mi"
	minBuffer  = "1Mi"
)

// footprint returns the memory that a store can come to need, "" when it cannot
// be computed.
func (s Store) footprint() string {
	total := resource.MustParse(Overhead)
	for _, part := range []string{s.SegmentSize, s.LocalBufferSize} {
		q, err := resource.ParseQuantity(part)
		if err != nil {
			return ""
		}
		total.Add(q)
	}
	return total.String()
}

func (s Store) validateSizes(at *field.Path) field.ErrorList {
	errs := atLeast(s.SegmentSize, minSegment, at.Child("segmentSize"))
	errs = append(errs, atLeast(s.LocalBufferSize, minBuffer, at.Child("localBufferSize"))...)
	errs = append(errs, s.Resources.Validate(at.Child("resources"))...)
	if len(errs) > 0 {
		return errs
	}
	// The memory of a segment is touched only when keys fill it: a limit below the
	// sum kills the store hours after it was deployed.
	limit, need := resource.MustParse(s.Resources.Limits.Memory), resource.MustParse(s.footprint())
	if limit.Cmp(need) < 0 {
		errs = append(errs, field.Invalid(at.Child("resources", "limits", "memory"), s.Resources.Limits.Memory, fmt.Sprintf(
			"must be at least %s: segment %s + local buffer %s + %s of the process itself",
			s.footprint(), s.SegmentSize, s.LocalBufferSize, Overhead)))
	}
	return errs
}

func atLeast(size, least string, at *field.Path) field.ErrorList {
	q, errs := kube.Quantity(size, at)
	if len(errs) == 0 && q.Cmp(resource.MustParse(least)) < 0 {
		errs = append(errs, field.Invalid(at, size, "must be at least "+least))
	}
	return errs
}

// bytes writes a quantity, which has been validated, as Mooncake reads it in every
// version: a whole number. It takes "10gb" too, but not "10Gi".
func bytes(quantity string) string {
	q := resource.MustParse(quantity)
	return fmt.Sprint(q.Value())
}
