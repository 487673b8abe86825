package hook

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errLate says that a part of an answer was not found in time. The others are told without it.
var errLate = errors.New("not found in time")

// tellingShare is the share of an event's time that is kept for telling what was found.
const tellingShare = 8

// beforeTelling is the time in which an event looks for what there is to tell.
func beforeTelling(ctx context.Context) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return context.WithCancel(ctx)
	}
	left := time.Until(end)
	return context.WithTimeout(ctx, left-left/tellingShare)
}

// inTime finds a part of an answer. Its error is an errLate when the time is over: what looks for it then ends with the process.
func inTime[T any](ctx context.Context, find func(context.Context) (T, error)) (T, error) {
	type found struct {
		part T
		err  error
	}
	var none T
	if ctx.Err() != nil {
		return none, errLate
	}
	done := make(chan found, 1)
	go func() {
		var x found
		defer func() {
			if cause := recover(); cause != nil {
				x = found{err: fmt.Errorf("internal error: %v", cause)}
			}
			done <- x
		}()
		x.part, x.err = find(ctx)
	}()
	select {
	case x := <-done:
		if x.err != nil && ctx.Err() != nil {
			x.err = errLate
		}
		return x.part, x.err
	case <-ctx.Done():
		return none, errLate
	}
}
