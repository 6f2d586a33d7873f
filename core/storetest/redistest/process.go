package redistest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// process is one run of a server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it is gone

	halted bool // the Server's lock guards it
}

// newProcess runs a program that appends what it prints to a file.
func newProcess(path, log string, args []string) (*process, error) {
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the process has it then
	p := &process{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = out, out, processAttr()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // killed or not, it is gone
		close(p.ended)
	}()
	return p, nil
}

// ready waits until the process answers at an address, and returns what it says
// of itself. Another that answers there in its place is an error.
func (p *process) ready(addr string) (map[string]string, error) {
	deadline := time.Now().Add(patience)
	for {
		info, err := infoOf(addr, "server")
		switch {
		case err == nil && info["process_id"] != strconv.Itoa(p.cmd.Process.Pid):
			return nil, fmt.Errorf("another server is at %s", addr)
		case err == nil:
			return info, nil
		case time.Now().After(deadline):
			return nil, err
		}
		select {
		case <-p.ended:
			return nil, errors.New("the server ended at once")
		case <-time.After(interval):
		}
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error says that it is gone
	<-p.ended
}

func (p *process) stop() error { p.halted = true; return p.cmd.Process.Signal(sigStop) }

func (p *process) resume() error { p.halted = false; return p.cmd.Process.Signal(sigCont) }
