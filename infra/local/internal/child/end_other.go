//go:build !linux

package child

import "syscall"

// endWithParent does nothing: only Linux can end a program with its parent.
func endWithParent(*syscall.SysProcAttr) {}
