package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/ratelimit/core/storetest/redistest"
	"github.com/weirhq/ratelimit/examples/internal/smoke"
)

func TestMain(m *testing.M) { smoke.Main(m, main) }

const freePorts = "127.0.0.1:0,127.0.0.1:0,127.0.0.1:0"

var client = http.Client{Timeout: 20 * time.Second}

// pay pays once at each address, for some rounds, and returns how often each status came.
func pay(t *testing.T, urls []string, rounds int) map[int]int {
	t.Helper()
	statuses := map[int]int{}
	for range rounds {
		for _, url := range urls {
			resp, err := client.Post(url+"/pay", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			statuses[resp.StatusCode]++
		}
	}
	return statuses
}

// In memory each of three instances admits its own six payments.
func TestMemory(t *testing.T) {
	urls := smoke.Start(t, 3, "-store", "memory", "-addr", freePorts)
	if got := pay(t, urls, 8); got[200] != 18 || got[429] != 6 {
		t.Errorf("statuses %v, want 18 of 200 and 6 of 429", got)
	}
}

// In Redis all of them together admit six. While it is down payments are refused, and
// pages are not; once it is back, payments are counted again.
func TestRedis(t *testing.T) {
	server := redistest.Start(t)
	urls := smoke.Start(t, 3, "-store", "redis", "-redis", server.URL(), "-addr", freePorts)
	if got := pay(t, urls, 8); got[200] != 6 || got[429] != 18 {
		t.Errorf("statuses %v, want 6 of 200 and 18 of 429", got)
	}

	server.Kill() // what was denied is remembered for a second
	if got := payUntil(t, urls, func(statuses map[int]int) bool { return statuses[503] == 3 }); got[200] > 0 {
		t.Errorf("statuses %v while Redis is down, want no payment", got)
	}
	for _, url := range urls {
		resp, err := client.Get(url + "/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || resp.Header["X-Ratelimit-Limit"] != nil {
			t.Errorf("a page while Redis is down: %d, %v", resp.StatusCode, resp.Header)
		}
	}

	server.Restart()
	got := payUntil(t, urls, func(statuses map[int]int) bool { return statuses[429] > 0 })
	if got[200] == 0 || got[200] > 6 {
		t.Errorf("statuses %v after Redis came back, want up to 6 of 200", got)
	}
}

// payUntil pays round after round until a round is as wanted, and returns how often each
// status came in all.
func payUntil(t *testing.T, urls []string, wanted func(round map[int]int) bool) map[int]int {
	t.Helper()
	all := map[int]int{}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		round := pay(t, urls, 1)
		for status, n := range round {
			all[status] += n
		}
		if wanted(round) {
			return all
		}
		if time.Now().After(deadline) {
			t.Fatalf("statuses %v, and none of the rounds was as wanted", all)
		}
	}
}
