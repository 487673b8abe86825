package op

import "context"

type progressKey struct{}

// WithProgress gives ctx somebody to tell how far a long operation is: so much
// done of so much. Calls come one at a time, and rarely.
func WithProgress(ctx context.Context, tell func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// Progress is who wants to know how far an operation is; nil for nobody.
func Progress(ctx context.Context) func(done, total int) {
	tell, _ := ctx.Value(progressKey{}).(func(done, total int))
	return tell
}
