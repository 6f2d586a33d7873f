//go:build unix && !linux

package redistest

import "syscall"

const sigStop, sigCont = syscall.SIGSTOP, syscall.SIGCONT

func processAttr() *syscall.SysProcAttr { return nil }
