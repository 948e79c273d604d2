package child

import "syscall"

// endWithParent has the kernel interrupt the program when we are killed and
// cannot do it ourselves. (It may do so several times: once for each of our threads.)
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
