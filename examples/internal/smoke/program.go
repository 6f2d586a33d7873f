package smoke

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asProgram makes a test binary run the example in place of its tests.
const asProgram = "RATELIMIT_EXAMPLE_MAIN"

// patience is how long the program may take to start, to answer, or to stop.
const patience = 20 * time.Second

// Main runs the tests, or main where the test binary was started as the program. It
// is what the example's TestMain calls.
func Main(m *testing.M, main func()) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	m.Run()
}

// start runs the program on a free port and returns its address. When the test
// ends, an interrupt must stop it cleanly.
func start(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer killLater(cmd).Stop()
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("after an interrupt: %v", err)
		}
	})
	return address(t, cmd, out)
}

// address reads where the program listens from the first line that it prints.
func address(t *testing.T, cmd *exec.Cmd, out io.Reader) string {
	t.Helper()
	defer killLater(cmd).Stop() // which ends the reading
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	return url
}

// killLater kills the program when patience is over, unless it is stopped before.
func killLater(cmd *exec.Cmd) *time.Timer {
	return time.AfterFunc(patience, func() { cmd.Process.Kill() })
}
