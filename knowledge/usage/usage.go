// Package usage is the side record of retrievals: which versions were read, how
// often and when. Salience is computed with it; see package fact.
package usage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"leanctx/internal/atomicfile"
	"leanctx/internal/spool"
	"leanctx/knowledge/fact"
)

// Record is a file of lines "<unix seconds> <id>[*count] …" that every
// process appends to without a lock and without fsync. Losing it, or a line of
// it, changes no fact; salience is a little lower until facts are read again. It
// is safe for concurrent use.
type Record struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	offset int64
	since  time.Time // when the record begins; zero when there is none
	seen   map[string]fact.Retrievals
}

// limit is the size in bytes at which the record is folded into one line
// a version.
const limit = 256 << 10

// Open is the record of a store in dir. Nothing is read or made yet.
func Open(dir string, now func() time.Time) *Record {
	return &Record{path: filepath.Join(dir, "retrievals.log"), now: now, seen: map[string]fact.Retrievals{}}
}

// Of returns how v was read: what its file says and what was counted here.
func (u *Record) Of(v *fact.Version) fact.Retrievals {
	stored := fact.Retrievals{Count: v.RetrievalCount}
	if v.LastRetrieved != nil {
		stored.Last = *v.LastRetrieved
	}
	return u.With(v.ID, stored)
}

// With adds what was counted here of a version to what its file says.
func (u *Record) With(version string, stored fact.Retrievals) fact.Retrievals {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.seen[version]
	r.Count += stored.Count
	if stored.Last.After(r.Last) {
		r.Last = stored.Last
	}
	return r
}

// Covers is how far back the record reaches: before that, nobody can tell
// whether a fact was read.
func (u *Record) Covers(t time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.since.IsZero() {
		return 0
	}
	return t.Sub(u.since)
}

// Begin starts the record if there is none: from now on it can tell what was
// not read.
func (u *Record) Begin() {
	if f, err := os.OpenFile(u.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_, _ = fmt.Fprintln(f, u.now().Unix())
		_ = f.Close()
	}
}

// Refresh reads what was appended since the last time.
func (u *Record) Refresh() {
	u.mu.Lock()
	defer u.mu.Unlock()
	info, err := os.Stat(u.path)
	if err != nil || info.Size() == u.offset {
		return
	}
	if info.Size() < u.offset {
		u.offset, u.since, u.seen = 0, time.Time{}, map[string]fact.Retrievals{}
	}
	f, err := os.Open(u.path)
	if err != nil {
		return
	}
	defer f.Close()
	data := make([]byte, info.Size()-u.offset)
	n, _ := f.ReadAt(data, u.offset)
	data = data[:bytes.LastIndexByte(data[:n], '\n')+1]
	u.offset += int64(len(data))
	for line := range strings.Lines(string(data)) {
		u.fold(line)
	}
}

// firstTime is the first time that has ten digits, in 2001. What is shorter is the beginning of a torn line.
const firstTime = 1_000_000_000

func (u *Record) fold(line string) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || seconds < firstTime {
		return
	}
	at := time.Unix(seconds, 0).UTC()
	if u.since.IsZero() || at.Before(u.since) {
		u.since = at
	}
	for _, f := range fields[1:] {
		version, times, counted := strings.Cut(f, "*")
		n, err := strconv.Atoi(times)
		if !counted || err != nil || n < 1 {
			n = 1
		}
		r := u.seen[version]
		r.Count += n
		if at.After(r.Last) {
			r.Last = at
		}
		u.seen[version] = r
	}
}

// Note notes that versions were read. Errors are of no consequence.
func (u *Record) Note(versions []string) {
	if len(versions) == 0 {
		return
	}
	f, err := os.OpenFile(u.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	line := strconv.FormatInt(u.now().Unix(), 10) + " " + strings.Join(versions, " ")
	n, err := spool.Append(f, []byte(line))
	if err != nil {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	u.mu.Lock()
	if info.Size() == u.offset+int64(n) { // nobody else wrote meanwhile: it need not be read again
		u.fold(line)
		u.offset = info.Size()
	}
	u.mu.Unlock()
	if info.Size() > limit {
		u.compact()
	}
}

// compact rewrites the record with one entry a version. Lines that another
// process appends meanwhile are lost, which does no harm.
func (u *Record) compact() {
	u.Refresh()
	u.mu.Lock()
	defer u.mu.Unlock()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n", u.since.Unix())
	for version, r := range u.seen {
		fmt.Fprintf(&b, "%d %s*%d\n", r.Last.Unix(), version, r.Count)
	}
	if atomicfile.WriteFile(u.path, b.Bytes(), atomicfile.Options{}) == nil {
		u.offset = int64(b.Len())
	}
}
