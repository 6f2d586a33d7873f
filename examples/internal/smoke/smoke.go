// Package smoke tests the examples: each is the same app on another framework, so the
// same requests get the same answers. It starts the program as a user would, on a
// free port, and talks to it over the network.
package smoke

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

type answer struct {
	status int
	header http.Header
	body   string
}

var client = http.Client{Timeout: patience}

func send(t *testing.T, method, url string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// Test starts the example and drives it: the limits hold, and each is told.
func Test(t *testing.T) {
	url := Start(t, 1, "-addr", "127.0.0.1:0")[0]
	t.Run("login", func(t *testing.T) { login(t, url) })
	t.Run("search", func(t *testing.T) { search(t, url) })
	t.Run("api", func(t *testing.T) { api(t, url) })
}

// Another forwarded address each time makes no other client.
func login(t *testing.T, url string) {
	for i := range 12 {
		a := send(t, "POST", url+"/login", fmt.Sprintf("X-Forwarded-For: 192.0.2.%d", i))
		if i < 10 {
			if a.status != http.StatusOK || a.header.Get("X-RateLimit-Remaining") != fmt.Sprint(9-i) {
				t.Errorf("request %d: %d, %v", i+1, a.status, a.header)
			}
			continue
		}
		retry := a.header.Get("Retry-After")
		if a.status != http.StatusTooManyRequests || !regexp.MustCompile(`^(2[0-9][0-9]|300)$`).MatchString(retry) {
			t.Errorf("request %d: %d, Retry-After %q", i+1, a.status, retry)
		}
		if want := `{"error":"rate_limit_exceeded","retry_after":` + retry + `}`; a.body != want {
			t.Errorf("request %d: body %s, want %s", i+1, a.body, want)
		}
		for name, want := range map[string]string{
			"X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0",
			"Cache-Control": "no-store", "Content-Type": "application/json",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("request %d: %s: %q, want %q", i+1, name, got, want)
			}
		}
		if a.header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("request %d: no X-RateLimit-Reset", i+1)
		}
	}
	if a := send(t, "GET", url+"/"); a.status != http.StatusOK || a.header.Get("X-RateLimit-Limit") != "600" {
		t.Errorf("the rest of the app: %d, %v", a.status, a.header)
	}
}

func search(t *testing.T, url string) {
	if a := send(t, "GET", url+"/search?q=x"); a.status != http.StatusOK || a.header.Get("X-RateLimit-Remaining") != "95" {
		t.Errorf("the first search: %d, %v", a.status, a.header)
	}
	if n := admitted(t, url+"/search?q=x", "X-Api-Key: none"); n < 19 {
		t.Errorf("%d more searches were admitted, want at least 19", n)
	}
}

func api(t *testing.T, url string) {
	if n := admitted(t, url+"/api/items", "X-Api-Key: one"); n < 20 {
		t.Errorf("%d calls were admitted, want at least the burst of 20", n)
	}
	if a := send(t, "GET", url+"/api/items", "X-Api-Key: two"); a.status != http.StatusOK {
		t.Errorf("another key: %d", a.status)
	}
}

// admitted returns how many requests pass before the first is denied: more than
// the limit on a slow machine, since buckets refill.
func admitted(t *testing.T, url, header string) int {
	t.Helper()
	for n := range 100 {
		if send(t, "GET", url, header).status == http.StatusTooManyRequests {
			return n
		}
	}
	t.Error("100 requests were admitted")
	return 100
}
