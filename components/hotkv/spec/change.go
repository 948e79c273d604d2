package spec

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Shape is what of a cluster cannot be changed freely once it holds data. A zero
// field is not known.
type Shape struct {
	Namespace   string
	Layout      Layout
	Primaries   int
	Replicas    int // of each primary
	Pods        int // of one StatefulSet
	StorageSize string
	Password    string // where it comes from
}

// Shape returns the shape of c.
func (c Cluster) Shape() Shape {
	return Shape{Namespace: c.Namespace, Layout: c.Layout, Primaries: c.Primaries, Replicas: c.ReplicasPerPrimary,
		StorageSize: c.VolumeSize(), Password: c.passwordSource()}
}

// Refuse says why a cluster of shape old must not become one of shape wanted;
// nil when it may.
func Refuse(old, wanted Shape) error {
	var errs []error
	if old.Namespace != "" && wanted.Namespace != "" && old.Namespace != wanted.Namespace {
		errs = append(errs, fmt.Errorf("namespace: %s to %s: that is another cluster, without the data of this one; "+
			"set it back, or make a second cluster and move the clients", old.Namespace, wanted.Namespace))
	}
	if old.Layout != "" && wanted.Layout != "" && old.Layout != wanted.Layout {
		errs = append(errs, fmt.Errorf("layout: %s to %s: that is another cluster, without the data of this one; "+
			"set it back, or make a second cluster and move the clients", old.Layout, wanted.Layout))
	}
	if wanted.Layout != StatefulSetPerShard && less(wanted.Primaries, old.Primaries) {
		errs = append(errs, fmt.Errorf("primaries: %d to %d: Kubernetes removes the highest ordinals of a StatefulSet, "+
			"whatever slots they have, and data with them; set it back, or make a second cluster of the new size and move the clients", old.Primaries, wanted.Primaries))
	}
	if less(wanted.Replicas, old.Replicas) {
		errs = append(errs, fmt.Errorf("replicasPerPrimary: %d to %d: Kubernetes removes the highest ordinals of a StatefulSet, "+
			"whatever role they have now, and data with them; set it back", old.Replicas, wanted.Replicas))
	}
	if less(wanted.Pods, old.Pods) {
		errs = append(errs, fmt.Errorf("primaries or replicasPerPrimary: %d to %d pods: Kubernetes removes the highest ordinals of a StatefulSet, "+
			"whatever role they have now, and data with them; set it back", old.Pods, wanted.Pods))
	}
	switch known := old.StorageSize != "" && wanted.StorageSize != ""; {
	case !known || old.StorageSize == wanted.StorageSize:
	case old.StorageSize == noVolumes || wanted.StorageSize == noVolumes:
		errs = append(errs, fmt.Errorf("storage: %s to %s: no pod would find its data; "+
			"set it back, or make a second cluster and move the clients", volumes(old), volumes(wanted)))
	case !sameQuantity(old.StorageSize, wanted.StorageSize):
		errs = append(errs, fmt.Errorf("storage.size: %s to %s: Kubernetes cannot change the volumes of a StatefulSet in place; set it back "+
			"(a cluster that never came up holds nothing: destroy it, delete its PersistentVolumeClaims, "+
			"which have the label app.kubernetes.io/instance=<name of the cluster>, and set the size then)", old.StorageSize, wanted.StorageSize))
	}
	if old.Password != "" && wanted.Password != "" && old.Password != wanted.Password {
		errs = append(errs, fmt.Errorf("passwordFrom: %s to %s: servers of two passwords do not talk to each other, and a rolling restart would stop at its first pod; "+
			"set it back. For another password change the text in that Secret, and restart all pods at once. For another Secret destroy the cluster and make it again: "+
			"with storage.retention Retain it finds its data", nameOfSource(old.Password), nameOfSource(wanted.Password)))
	}
	return errors.Join(errs...)
}

// ownSecret stands for the Secret that the component makes. Others have a slash.
const ownSecret = "own"

func (c Cluster) passwordSource() string {
	if c.PasswordFrom.Name == "" {
		return ownSecret
	}
	return PasswordSource(c.PasswordFrom)
}

// PasswordSource is what a change of the Secret with the password is compared with.
func PasswordSource(from SecretKey) string { return from.Name + "/" + from.Key }

func nameOfSource(source string) string {
	if source == ownSecret {
		return "the component's own Secret"
	}
	name, key, _ := strings.Cut(source, "/")
	return fmt.Sprintf("key %s of Secret %s", key, name)
}

func volumes(s Shape) string {
	if s.StorageSize == noVolumes {
		return "no volumes"
	}
	return "volumes of " + s.StorageSize
}

// less compares two numbers of which neither is unknown.
func less(a, b int) bool { return a != 0 && a < b }

func sameQuantity(a, b string) bool {
	p, errA := resource.ParseQuantity(a)
	q, errB := resource.ParseQuantity(b)
	return errA == nil && errB == nil && p.Cmp(q) == 0
}
