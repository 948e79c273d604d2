package spec

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// overhead is what a store needs beside its segment and its buffer. Over TCP, 105Mi
// and what maps the memory to pages: 8 bytes for each 4096 of them. Measured with
// 0.3.13: 128Mi held while 256Mi were filled. RDMA keeps tables for the NICs too.
func (c Cluster) overhead(segment resource.Quantity) resource.Quantity {
	const mebi = 1 << 20
	need := 128*mebi + segment.Value()/512
	if c.Fabric.RDMA() {
		need = max(1024*mebi, segment.Value()/20)
	}
	return *resource.NewQuantity((need+mebi-1)/mebi*mebi, resource.BinarySI)
}

// hotCacheVariable has a store keep copies of what it reads, in further memory.
const hotCacheVariable = "MC_STORE_LOCAL_HOT_CACHE_SIZE"

// hotCache returns the memory for such copies: none, unless the user asks for it.
func (s Store) hotCache() resource.Quantity {
	bytes, _ := strconv.ParseInt(s.ExtraEnv[hotCacheVariable], 10, 64) // validated
	return *resource.NewQuantity(max(0, bytes), resource.BinarySI)
}

// minSegment is the smallest segment that Mooncake registers, minBuffer the
// smallest buffer that serves a REST call; with 0 every call fails.
const (
	minSegment = "16Mi"
	minBuffer  = "1Mi"
)

// fixedBuffer is the buffer of the releases that do not read its size.
const fixedBuffer = "1Gi"

func defaultBuffer(v Version) string {
	if v.has("MOONCAKE_LOCAL_BUFFER_SIZE") {
		return "64Mi"
	}
	return fixedBuffer
}

// footprint returns the memory that a store can come to need, "" when it cannot
// be computed.
func (c Cluster) footprint() string {
	segment, err := resource.ParseQuantity(c.Store.SegmentSize)
	if err != nil {
		return ""
	}
	total, err := resource.ParseQuantity(c.Store.LocalBufferSize)
	if err != nil {
		return ""
	}
	total.Add(segment)
	total.Add(c.overhead(segment))
	total.Add(c.Store.hotCache())
	return total.String()
}

func (c Cluster) validateSizes(at *field.Path) field.ErrorList {
	s := c.Store
	errs := atLeast(s.SegmentSize, minSegment, at.Child("segmentSize"))
	errs = append(errs, atLeast(s.LocalBufferSize, minBuffer, at.Child("localBufferSize"))...)
	if s.LocalBufferSize != fixedBuffer && !c.Version.has("MOONCAKE_LOCAL_BUFFER_SIZE") {
		errs = append(errs, c.Version.tooOld(at.Child("localBufferSize"), "MOONCAKE_LOCAL_BUFFER_SIZE"))
	}
	errs = append(errs, s.Resources.Validate(at.Child("resources"))...)
	if len(errs) > 0 {
		return errs
	}
	// The memory of a segment is touched only when keys fill it: a limit below the
	// sum kills the store hours after it was deployed.
	limit, need := resource.MustParse(s.Resources.Limits.Memory), resource.MustParse(c.footprint())
	if limit.Cmp(need) < 0 {
		overhead, hotCache := c.overhead(resource.MustParse(s.SegmentSize)), ""
		if cache := s.hotCache(); !cache.IsZero() {
			hotCache = " + hot cache " + cache.String()
		}
		errs = append(errs, field.Invalid(at.Child("resources", "limits", "memory"), s.Resources.Limits.Memory, fmt.Sprintf(
			"must be at least %s: segment %s + local buffer %s%s + %s of the process itself",
			c.footprint(), s.SegmentSize, s.LocalBufferSize, hotCache, overhead.String())))
	}
	return errs
}

func atLeast(size, least string, at *field.Path) field.ErrorList {
	q, errs := kube.Bytes(size, at)
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
