package spec

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Shape is what of a cluster cannot be changed freely once it holds data. A zero
// field is not known.
type Shape struct {
	Primaries   int
	Pods        int
	StorageSize string
}

// Shape returns the shape of c.
func (c Cluster) Shape() Shape {
	return Shape{Primaries: c.Primaries, Pods: c.Pods(), StorageSize: c.Storage.Size}
}

// Refuse says why a cluster of shape old must not become one of shape wanted;
// nil when it may.
func Refuse(old, wanted Shape) error {
	var errs []error
	if old.Primaries != 0 && wanted.Primaries != 0 && wanted.Primaries < old.Primaries {
		errs = append(errs, fmt.Errorf("primaries: %d to %d: Kubernetes removes the highest ordinals of a StatefulSet, "+
			"whatever slots they have, and data with them; set it back, or make a second cluster of the new size and move the clients", old.Primaries, wanted.Primaries))
	} else if old.Pods != 0 && wanted.Pods != 0 && wanted.Pods < old.Pods {
		errs = append(errs, fmt.Errorf("replicasPerPrimary: %d to %d pods: Kubernetes removes the highest ordinals of a StatefulSet, "+
			"whatever role they have now, and data with them; set it back", old.Pods, wanted.Pods))
	}
	if old.StorageSize != "" && wanted.StorageSize != "" && !sameQuantity(old.StorageSize, wanted.StorageSize) {
		errs = append(errs, fmt.Errorf("storage.size: %s to %s: Kubernetes cannot change the volumes of a StatefulSet in place; set it back", old.StorageSize, wanted.StorageSize))
	}
	return errors.Join(errs...)
}

func sameQuantity(a, b string) bool {
	p, errA := resource.ParseQuantity(a)
	q, errB := resource.ParseQuantity(b)
	return errA == nil && errB == nil && p.Cmp(q) == 0
}
