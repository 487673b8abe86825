package proctest

import "errors"

// Again calls do until its error is another one than busy. Where many processes write, one that
// gets no processor may wait for a lock for longer than it is meant to. Nothing was written then.
func Again[T any](busy error, do func() (T, error)) (T, error) {
	for {
		if r, err := do(); !errors.Is(err, busy) {
			return r, err
		}
	}
}
