//go:build !linux

package tree

import "os/exec"

// endWithUs does nothing: no system call for it is known here.
func endWithUs(*exec.Cmd) {}
