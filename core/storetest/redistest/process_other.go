//go:build !unix

package redistest

import (
	"os"
	"syscall"
)

// A process can only be killed here: Stop and Resume fail the test.
var sigStop, sigCont = os.Interrupt, os.Interrupt

func processAttr() *syscall.SysProcAttr { return nil }
