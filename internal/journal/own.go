package journal

import "errors"

// OpenOwn is [Open] in a directory where another program may keep files of the
// same names. Where the snapshot is that program's it stays as it is, and the
// log is kept beside it under the name with "-own" behind it.
func OpenOwn[S, E any](dir string, m Machine[S, E], o *Options) (*Log[S, E], error) {
	log, err := Open(dir, m, o)
	if !errors.Is(err, ErrForeign) {
		return log, err
	}
	own := *o
	own.Name += "-own"
	return Open(dir, m, &own)
}
