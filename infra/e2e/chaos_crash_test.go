package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"kvinfra/infra/e2e/load"
)

// TestChaosCrash takes pods and processes away from a cluster that clients write to.
func TestChaosCrash(t *testing.T) {
	s := chaos(t, "crash", "")
	step(t, "up", func(t *testing.T) {
		s.run(t, "up")
		s.eventuallyHealthy(t, 3, 1)
	})
	step(t, "a deleted primary", func(t *testing.T) {
		pod := s.primary(t)
		report := s.underLoad(t, 3, func() {
			s.kubectl(t, "delete", "pod", pod)
			s.eventuallyReady(t, "hotkv", 6)
		})
		within(t, report, 500*time.Millisecond)
		s.eventuallyHealthy(t, 3, 1)
		s.unchanged(t)
	})
	step(t, "all pods deleted", func(t *testing.T) {
		report := s.underLoad(t, 3, func() {
			s.kubectl(t, "delete", "pod", "-l", s.servers())
			s.eventuallyReady(t, "hotkv", 6)
		})
		assert.LessOrEqual(t, report.Own(load.Tuned()...), 3*time.Second)
		s.eventuallyHealthy(t, 3, 1)
		s.unchanged(t)
	})
	step(t, "a killed primary", func(t *testing.T) {
		pod := s.primary(t)
		report := s.underLoad(t, 3, func() {
			s.signal(t, pod, syscall.SIGKILL)
			time.Sleep(10 * time.Second)
			s.eventuallyReady(t, "hotkv", 6)
		})
		assert.LessOrEqual(t, report.Own(load.Tuned()...), 6*time.Second)
		s.eventuallyHealthy(t, 3, 1)
		s.unchanged(t)
	})
	step(t, "a frozen primary", func(t *testing.T) {
		pod := s.primary(t)
		report := s.underLoad(t, 3, func() {
			s.signal(t, pod, syscall.SIGSTOP)
			time.Sleep(30 * time.Second)
			s.signal(t, pod, syscall.SIGCONT)
			time.Sleep(5 * time.Second)
		})
		assert.LessOrEqual(t, report.Own(load.Tuned()...), 12*time.Second)
		s.eventuallyHealthy(t, 3, 1)
		s.unchanged(t)
	})
}
