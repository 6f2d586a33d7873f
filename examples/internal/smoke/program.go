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

// Start runs the program with arguments and returns the addresses of so many instances,
// as it prints them. When the test ends, an interrupt must stop it cleanly.
func Start(t *testing.T, instances int, args ...string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
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
	return addresses(t, instances, cmd, out)
}

// addresses reads where the program listens from the first lines that it prints.
func addresses(t *testing.T, n int, cmd *exec.Cmd, out io.Reader) (urls []string) {
	t.Helper()
	defer killLater(cmd).Stop() // which ends the reading
	lines := bufio.NewReader(out)
	for range n {
		line, err := lines.ReadString('\n')
		url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
		if err != nil || !found {
			t.Fatalf("the next line is %q, %v", line, err)
		}
		urls = append(urls, url)
	}
	return urls
}

// killLater kills the program when patience is over, unless it is stopped before.
func killLater(cmd *exec.Cmd) *time.Timer {
	return time.AfterFunc(patience, func() { cmd.Process.Kill() })
}
