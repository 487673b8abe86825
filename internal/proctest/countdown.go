package proctest

import "context"

// Countdown is a context that is canceled after Err was called `looks` times. A test can
// thus stop code at each place that checks its context.
func Countdown(ctx context.Context, looks int) context.Context { return &countdown{ctx, looks} }

type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
