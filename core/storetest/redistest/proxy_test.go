package redistest

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// behind returns a server with a proxy in front, and a client of it that was
// served.
func behind(t *testing.T) (*Server, *Proxy, *client) {
	t.Helper()
	s := Start(t)
	p := NewProxy(t, s.Addr())
	c := connect(t, p.Addr())
	equal(t, "PING", c.do("PING"), "PONG")
	return s, p, c
}

func TestProxyCarries(t *testing.T) {
	t.Parallel()
	s, p, c := behind(t)
	equal(t, "SET", c.do("SET", "a", "1"), "OK")
	equal(t, "GET", c.do("GET", "a"), "1")
	in, out := p.Bytes()
	equal(t, "bytes in", in, int64(len("*1\r\n$4\r\nPING\r\n"+
		"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n"+"*2\r\n$3\r\nGET\r\n$1\r\na\r\n")))
	equal(t, "bytes out", out, int64(len("+PONG\r\n"+"+OK\r\n"+"$1\r\n1\r\n")))
	equal(t, "requests", p.Requests(), 3)
	equal(t, "requests of two kinds", p.Requests("get", "ping"), 2)
	equal(t, "requests of none", p.Requests("del"), 0)

	other := connect(t, p.Addr())
	long := strings.Repeat("x", 1<<20)
	equal(t, "SET", other.do("SET", "a", long), "OK")
	equal(t, "GET", other.do("GET", "a"), long)
	if v := other.do("HELLO", "3"); !strings.Contains(v, "proto 3") {
		t.Errorf("HELLO 3: %q", v)
	}
	equal(t, "a line of words", line(other, "INCR n"), "1")
	equal(t, "connections", p.Connections(), 2)
	equal(t, "open", p.Open(), 2)
	_ = other.Close()
	await(t, "the connection to close", func() error { return open(p, 1) })

	s.Kill()
	c.gone("")
	connect(t, p.Addr()).gone("") // accepted, and no server to carry it to
	s.Restart()
	equal(t, "PING", connect(t, p.Addr()).do("PING"), "PONG")
}

func TestDropReplies(t *testing.T) {
	t.Parallel()
	s, p, c := behind(t)
	p.DropReplies(2, "incr")
	for range 2 {
		c := connect(t, p.Addr())
		equal(t, "PING", c.do("PING"), "PONG")
		c.send("INCR", "a")
		c.silent()
		c.send("PING")
		c.silent() // for good
	}
	equal(t, "INCR", c.do("INCR", "a"), "3") // the lost ones were done
	equal(t, "INCR requests", p.Requests("incr"), 3)

	p.DropReplies(1) // of any
	c.send("PING")
	c.silent()
	p.DropReplies(100)
	p.Pass()
	equal(t, "INCR after Pass", connect(t, p.Addr()).do("INCR", "a"), "4")
	equal(t, "GET", answer(s.Do("GET", "a")), "4")
}

// Of a pipeline, the replies before the lost one arrive.
func TestDropRepliesOfAPipeline(t *testing.T) {
	t.Parallel()
	s, p, c := behind(t)
	p.DropReplies(1, "decr")
	for _, command := range []string{"INCR", "INCR", "DECR", "INCR"} {
		c.send(command, "a")
	}
	equal(t, "the first", c.receive(), "1")
	equal(t, "the second", c.receive(), "2")
	c.silent()
	equal(t, "GET", answer(s.Do("GET", "a")), "2")
}

func TestCutReplies(t *testing.T) {
	t.Parallel()
	s, p, _ := behind(t)
	if _, err := s.Do("SET", "a", "0123456789"); err != nil {
		t.Fatal(err)
	}
	const reply = "$10\r\n0123456789\r\n"
	for _, after := range []int{0, 1, 4, 9, len(reply), 1000} {
		p.CutReplies(1, after, "get")
		c := connect(t, p.Addr())
		equal(t, "PING", c.do("PING"), "PONG")
		c.send("GET", "a")
		c.gone(reply[:min(after, len(reply))])
		equal(t, "GET on another connection", connect(t, p.Addr()).do("GET", "a"), "0123456789")
	}
}

func TestBlackHole(t *testing.T) {
	t.Parallel()
	s, p, c := behind(t)
	idle := connect(t, p.Addr())
	equal(t, "PING", idle.do("PING"), "PONG")
	p.BlackHole()
	c.send("INCR", "a")
	c.silent()
	other := connect(t, p.Addr())
	other.send("INCR", "a")
	other.silent()
	equal(t, "INCR requests", p.Requests("incr"), 2)
	equal(t, "GET", answer(s.Do("GET", "a")), "<nil>")

	p.Pass()
	c.send("INCR", "a")
	c.silent()
	other.send("INCR", "a")
	other.silent()
	equal(t, "INCR of one that lost nothing", idle.do("INCR", "a"), "1")
	equal(t, "INCR of a new one", connect(t, p.Addr()).do("INCR", "a"), "2")
}

// Replies that are under way are lost too, and so is the news of a crash.
func TestBlackHoleOfReplies(t *testing.T) {
	t.Parallel()
	s, p, c := behind(t)
	idle := connect(t, p.Addr())
	equal(t, "PING", idle.do("PING"), "PONG")
	p.Delay(0, 200*time.Millisecond)
	c.send("INCR", "a")
	await(t, "the server to do it", func() error { return has(s, "a", "1") })
	p.BlackHole()
	c.silent()
	c.silent()
	c.silent()
	s.Kill()
	c.silent()
	idle.silent()
}

func TestCut(t *testing.T) {
	t.Parallel()
	_, p, c := behind(t)
	other := connect(t, p.Addr())
	equal(t, "PING", other.do("PING"), "PONG")
	p.Cut()
	c.gone("")
	other.gone("")
	equal(t, "PING", connect(t, p.Addr()).do("PING"), "PONG")
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	_, p, c := behind(t)
	for range 3 {
		p.Refuse()
		refused(t, p.Addr())
		equal(t, "PING of one that is open", c.do("PING"), "PONG")
		p.Pass()
		equal(t, "PING of a new one", connect(t, p.Addr()).do("PING"), "PONG")
	}
	p.Refuse()
	p.Cut()
	c.gone("")
	refused(t, p.Addr())
}

func TestPassFindsThePortTaken(t *testing.T) {
	t.Parallel()
	_, p, _ := behind(t)
	p.Refuse()
	l, err := net.Listen("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	free := time.AfterFunc(100*time.Millisecond, func() { _ = l.Close() })
	defer free.Stop()
	p.Pass()
	equal(t, "PING", connect(t, p.Addr()).do("PING"), "PONG")
}

func TestDelay(t *testing.T) {
	t.Parallel()
	_, p, c := behind(t)
	const d = 100 * time.Millisecond
	for _, delays := range [][2]time.Duration{{d, 0}, {0, d}, {d / 2, d / 2}} {
		p.Delay(delays[0], delays[1])
		before := time.Now()
		for range 200 { // each on its way while the others are
			c.send("PING")
		}
		for range 200 {
			equal(t, "PING", c.receive(), "PONG")
		}
		if took := time.Since(before); took < d || took > 100*d {
			t.Errorf("200 requests, each delayed by %v: %v", delays, took)
		}
	}
	p.Delay(0, time.Hour)
	c.send("PING")
	c.silent()
	p.Cut() // does not wait for it
	c.gone("")
}

// What is not one reply for one request is carried all the same.
func TestProxyCarriesStreams(t *testing.T) {
	t.Parallel()
	s, p, c := behind(t)
	equal(t, "SUBSCRIBE", c.do("SUBSCRIBE", "news"), "[subscribe news 1]")
	p.DropReplies(1)
	equal(t, "PUBLISH", answer(s.Do("PUBLISH", "news", "a")), "1")
	equal(t, "the news", c.receive(), "[message news a]")
	p.Pass()

	_, port, err := net.SplitHostPort(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "SET", answer(s.Do("SET", "a", strings.Repeat("x", 1<<20))), "OK")
	replica := Start(t, "--replicaof", "127.0.0.1", port)
	await(t, "the replica to have its master's data", replica.linked)
	await(t, "what comes later", func() error {
		if _, err := s.Do("SET", "b", "1"); err != nil {
			return err
		}
		return has(replica, "b", "1")
	})
	equal(t, "STRLEN", answer(replica.Do("STRLEN", "a")), "1048576")
}

// A push of protocol 3 answers no request.
func TestPushIsNoReply(t *testing.T) {
	t.Parallel()
	s, p, c := behind(t)
	c.do("HELLO", "3")
	equal(t, "CLIENT", c.do("CLIENT", "TRACKING", "ON", "BCAST"), "OK")
	p.DropReplies(1, "incr")
	equal(t, "SET", answer(s.Do("SET", "a", "1")), "OK")
	v, _, err := c.read()
	if err != nil || v.kind != '>' {
		t.Fatalf("got %v and %v, want a push", v, err)
	}
	equal(t, "GET", c.do("GET", "a"), "1") // as the push before was no reply
	c.send("INCR", "a")
	c.silent()
}

func TestProxyForManyAtOnce(t *testing.T) {
	t.Parallel()
	_, p, _ := behind(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				// Whatever happens to it, it ends.
				_, _ = call(p.Addr(), 20*time.Millisecond, "INCR", "a")
				p.Requests()
				p.Bytes()
				p.Open()
				p.Connections()
			}
		})
	}
	for range 20 {
		for _, change := range []func(){
			func() { p.DropReplies(2, "incr") },
			func() { p.CutReplies(2, 1) },
			func() { p.Delay(time.Millisecond, time.Millisecond) },
			p.BlackHole, p.Cut, p.Refuse, p.Pass,
		} {
			wait.Go(change)
		}
	}
	wait.Wait()
	p.Pass()
	p.Cut()
	await(t, "its connections to close", func() error { return open(p, 0) })
	if v := connect(t, p.Addr()).do("INCR", "b"); v != "1" {
		t.Errorf("INCR: %s", v)
	}
}
