package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
)

var (
	errTimeout = fmt.Errorf("ratelimit: redis did not answer in time: %w", context.DeadlineExceeded)
	errBusy    = fmt.Errorf("%w: too many calls wait for redis", ratelimit.ErrBusy)
	errClosed  = fmt.Errorf("ratelimit: the store is closed: %w", redis.ErrClosed)
	errApart   = fmt.Errorf("%w: on a cluster a Spill needs the key of the charge that it belongs to", ratelimit.ErrMisuse)
)

// isReply reports whether an error came from the server, so it ran or refused the
// call; of any other error it is not known what became of the call.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

func unknownScript(err error) bool { return redis.HasErrorPrefix(err, "NOSCRIPT") }

// failed returns the error of a call as a caller is told it.
func failed(err error) error {
	var timeout net.Error
	switch {
	case err == errTimeout || err == errBusy || err == errClosed:
		return err
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: %w", errTimeout, err)
	default:
		return fmt.Errorf("ratelimit: redis: %w", err)
	}
}
