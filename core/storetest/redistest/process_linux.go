package redistest

import "syscall"

const sigStop, sigCont = syscall.SIGSTOP, syscall.SIGCONT

// processAttr ends a server with the test's process, also where that is killed or
// runs out of time and no cleanup is called. (Strictly with the thread that
// started it, which the runtime keeps unless a goroutine locked to it returns.)
func processAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
