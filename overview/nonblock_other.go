//go:build !unix

package overview

// nonblock: there are no pipes in a directory here.
const nonblock = 0
