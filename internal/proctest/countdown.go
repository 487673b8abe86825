package proctest

import "context"

// Countdown is a context that ends after it was looked at so many times, so
// that a test may end what looks at it at each of those places.
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
