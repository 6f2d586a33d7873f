package redisstore

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Open returns a store with a client of its own, made so that an outage is short for
// callers; Close closes it. It does not connect. The scheme says what is there:
//
//	redis://user:password@host:6379/0            one server; rediss:// with TLS
//	unix://user:password@/run/redis.sock?db=0    one server, by its socket
//	redis+cluster://host:6379?addr=host2:6379    a cluster; rediss+cluster:// with TLS
//	redis+sentinel://host:26379?master_name=main&addr=host2:26379    Sentinel; rediss+sentinel://
//
// The rest is as in [redis.ParseURL], [redis.ParseClusterURL] and
// [redis.ParseFailoverURL]; time-outs that the URL sets are kept. The error is all that
// is wrong, as *ratelimit.ConfigError values joined. It does not show the URL, which
// may hold a password.
func Open(rawURL string, config Config) (*Store, error) {
	resolved, err := config.resolve()
	client, urlErr := newClient(rawURL, resolved.Timeout)
	if err := errors.Join(urlErr, err); err != nil {
		if client != nil {
			_ = client.Close()
		}
		return nil, err
	}
	s, err := New(client, config)
	if err != nil {
		return nil, err
	}
	s.owned = true
	return s, nil
}

// newClient returns the client that a URL asks for, or what is wrong with it.
func newClient(rawURL string, timeout time.Duration) (redis.UniversalClient, error) {
	scheme, rest, found := strings.Cut(rawURL, "://")
	if !found {
		return nil, badURL(errors.New("the scheme is missing"))
	}
	base, kind, _ := strings.Cut(scheme, "+")
	plain := base + "://" + rest
	if err := checkURL(plain, kind == "cluster"); err != nil {
		return nil, badURL(err)
	}
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch kind {
	case "":
		o, err := redis.ParseURL(plain)
		if err != nil {
			return nil, badURL(err)
		}
		times{&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout}.shorten(timeout)
		o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
		o.DisableIdentity, o.MaintNotificationsConfig = true, quiet
		return redis.NewClient(o), nil
	case "cluster":
		o, err := redis.ParseClusterURL(plain)
		if err != nil {
			return nil, badURL(err)
		}
		times{&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout}.shorten(timeout)
		o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
		o.DisableIdentity, o.MaintNotificationsConfig = true, quiet
		o.MinRetryBackoff, o.MaxRetryBackoff = time.Millisecond, 8*time.Millisecond // before it follows a slot that moved
		return redis.NewClusterClient(o), nil
	case "sentinel":
		o, err := redis.ParseFailoverURL(plain)
		if err == nil && (o.MasterName == "" || o.ReplicaOnly || o.RouteByLatency || o.RouteRandomly) {
			err = errors.New("master_name is missing, or replicas are asked for, which cannot count")
		}
		if err != nil {
			return nil, badURL(err)
		}
		times{&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout}.shorten(timeout)
		o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
		o.DisableIdentity = true
		return redis.NewFailoverClient(o), nil
	default:
		return nil, badURL(errors.New("the scheme is unknown"))
	}
}

// checkURL refuses what the client would take, or panic at.
func checkURL(plain string, cluster bool) error {
	u, err := url.Parse(plain)
	if err != nil {
		return err
	}
	if u.Host == "" && u.Path == "" {
		return errors.New("it names no server")
	}
	if cluster && strings.Trim(u.Path, "/") != "" {
		return errors.New("a cluster has one database")
	}
	if u.Scheme != "unix" && strings.HasPrefix(u.Path, "/-") {
		return errors.New("the database is negative")
	}
	for _, values := range u.Query() {
		for _, v := range values {
			if strings.HasPrefix(v, "-") {
				return errors.New("an option is negative")
			}
		}
	}
	return nil
}

// times are the time-outs of a client.
type times struct{ dial, read, write, pool *time.Duration }

// shorten sets those that the URL did not.
func (t times) shorten(timeout time.Duration) {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(t.dial, max(timeout, time.Second)) // nobody waits for it: a connection that comes late serves the next call
	// Contexts end reads and writes. The client's own time-outs only have to be longer:
	// it measures them by a clock that is up to 50 ms late.
	set(t.read, timeout+time.Second)
	set(t.write, timeout+time.Second)
	set(t.pool, timeout)
}

// badURL tells what is wrong with a URL, and nothing of what is in it: what follows a
// colon or a quote may be half a password.
func badURL(err error) error {
	reason := strings.TrimPrefix(err.Error(), "redis: ")
	if e := new(url.Error); errors.As(err, &e) {
		reason = "it is no URL"
	}
	if i := strings.IndexAny(reason, `:"`); i >= 0 {
		reason = reason[:i]
	}
	return &ratelimit.ConfigError{Field: "url", Reason: "is not usable: " + reason}
}
