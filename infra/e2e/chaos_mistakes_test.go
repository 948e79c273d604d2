package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestChaosMistakes makes a cluster with a Secret that is not there and a timeout that is
// too short: both can be corrected, and later changes leave the init Job alone.
func TestChaosMistakes(t *testing.T) {
	s := chaos(t, "mistakes", "      passwordFrom: {name: misspelt, key: password}\n")
	s.edit(t, "timeoutSeconds: 180\n", "timeoutSeconds: 1\n")
	var failed map[string]string // Jobs
	step(t, "a Secret that is not there, corrected", func(t *testing.T) {
		s.refused(t, "up")
		s.kubectl(t, "create", "secret", "generic", "right", "--from-literal=password=abc")
		s.edit(t, "name: misspelt", "name: right")
		// Kubernetes does not replace a pod that never was ready.
		s.kubectl(t, "delete", "pods", "--all", "--force", "--grace-period=0")
		for range 6 {
			out, err := s.try(t, "up")
			assert.NotContains(t, out, "passwordFrom:")
			if err == nil { // a quick machine
				return
			}
			if strings.Contains(out, "hotkv-init") && strings.Contains(out, "(after") {
				failed = s.list(t, "jobs", ".metadata.uid")
				return
			}
		}
	})
	step(t, "more time reaches the init Job", func(t *testing.T) {
		s.edit(t, "timeoutSeconds: 1\n", "timeoutSeconds: 180\n")
		s.run(t, "up")
		s.eventuallyHealthy(t, 3, 1)
		if failed != nil {
			assert.NotEqual(t, failed["hotkv-init"], s.list(t, "jobs", ".metadata.uid")["hotkv-init"])
		}
	})
	step(t, "a change after it leaves the init Job alone", func(t *testing.T) {
		before := s.list(t, "jobs", ".metadata.uid")
		s.edit(t, "timeoutSeconds: 180\n", "timeoutSeconds: 240\n")
		s.run(t, "up")
		s.unchanged(t)
		assert.Equal(t, before["hotkv-init"], s.list(t, "jobs", ".metadata.uid")["hotkv-init"])
	})
	step(t, "another Secret is refused", func(t *testing.T) {
		s.edit(t, "name: right", "name: wrong")
		assert.Contains(t, s.refused(t, "preview"), "passwordFrom: key password of Secret right to key password of Secret wrong")
	})
}
