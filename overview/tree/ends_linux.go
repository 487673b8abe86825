package tree

import (
	"os/exec"
	"syscall"
)

// endWithUs has a command end when this program does: a hook that gives up leaves no git behind, which may
// wait for ever for a file that the repository's configuration names.
func endWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
