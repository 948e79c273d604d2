package spec

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// noVolumes stands for the size of volumes that there are not.
const noVolumes = "none"

// VolumeSize is what a change of the storage is compared with.
func (c Cluster) VolumeSize() string {
	if c.Storage.None {
		return noVolumes
	}
	return c.Storage.Size
}

func (c Cluster) validateStorage(at *field.Path) field.ErrorList {
	s := c.Storage
	var errs field.ErrorList
	if s.None {
		for key, value := range map[string]string{"size": s.Size, "className": s.ClassName, "retention": string(s.Retention)} {
			if value != "" {
				errs = append(errs, field.Forbidden(at.Child(key), "there are no volumes with none: true; leave one of the two out"))
			}
		}
		return errs
	}
	if s.ClassName != "" {
		errs = append(errs, kube.ValidateObjectName(s.ClassName, at.Child("className"))...)
	}
	errs = append(errs, kube.ValidateChoice(s.Retention, at.Child("retention"))...)
	size, problems := kube.Bytes(s.Size, at.Child("size"))
	// While the server writes its file anew, the old one, the new one and what is
	// written meanwhile are there at the same time.
	if len(problems) == 0 && size.Value() < 3*c.MaxMemory() {
		problems = append(problems, field.Invalid(at.Child("size"), s.Size,
			fmt.Sprintf("must be at least %dMi, three times the memory for data (%dMi), or the server runs out of room when it writes its files anew; "+
				"on a cluster that runs, lower memory.percent instead", 3*c.MaxMemory()>>20+1, c.MaxMemory()>>20)))
	}
	return append(errs, problems...)
}
