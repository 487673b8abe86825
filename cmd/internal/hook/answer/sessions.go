package answer

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"leanctx/cmd/internal/hook"
)

// Caller is the session of a client in which an event occurred.
type Caller struct {
	Client string // of the table
	Dir    string // where it works
	clears bool   // its context was cleared: it is what another one goes on as
	word   string // what is noted of it now
	seen   *seen
}

func (c Call) caller(in input) Caller {
	who := Caller{Client: c.Client, Dir: c.Dir, word: lineSeen, seen: c.seen(in)}
	switch c.Event {
	case hook.SessionStart:
		who.clears = in.text("source") == byClear
	case hook.SessionEnd:
		who.word = lineEnded
		if in.text("reason") == byClear {
			who.word = lineCleared
		}
	}
	return who
}

// byClear is why a session ends, and where the next one comes from, when a user
// clears the context: its window and its server stay.
const byClear = "clear"

// Sighting is a session of a client that hooks have seen in a project.
type Sighting struct {
	Own      bool      // it is the caller's
	Nameless bool      // it may be several: the client does not say which
	First    time.Time // zero: not known
	Last     time.Time
	Ended    time.Time // zero: it has not, or has begun again
}

// sightingKept is how long it is remembered that a session was seen: twice as
// long as an agent may be silent before nobody lists it.
const sightingKept = 48 * time.Hour

// sightings is what the names of the files begin with that tell of sessions.
// Such a file has a line for the first time that a session was seen, one for
// its end and one if it began again; its own time is the last.
const (
	sightings   = "session-"
	lineSeen    = "seen"
	lineEnded   = "ended"
	lineCleared = "cleared" // and so ended
	nameless    = "nameless"
)

// Sighted notes that the caller's session was seen in a project, and lists the
// sessions of its client there. Nothing is made where there is no data
// directory yet.
func (c Caller) Sighted(project string) []Sighting {
	s := c.seen
	if list, ok := s.sighted[project]; ok {
		return list
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(s.dir))); err != nil {
		return nil
	}
	kind := sightings + short(c.Client, project) + "-"
	own := kind + nameless
	if s.session != "" {
		own = kind + short(s.session)
	}
	if c.clears {
		s.goOn(kind, own)
	}
	c.note(filepath.Join(s.dir, own))
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	var list []Sighting
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), kind) {
			continue
		}
		x := s.sighting(e)
		x.Nameless = strings.HasSuffix(e.Name(), nameless)
		x.Own = e.Name() == own && !x.Nameless
		list = append(list, x)
	}
	s.sighted = map[string][]Sighting{project: list}
	return list
}

// goOn makes the session the one that was cleared within the last ten seconds,
// if there is just one.
func (s *seen) goOn(kind, own string) {
	entries, err := os.ReadDir(s.dir)
	if err != nil || s.session == "" {
		return
	}
	var before []string
	for _, e := range entries {
		if e.Name() == own {
			return
		}
		if !strings.HasPrefix(e.Name(), kind) || strings.HasSuffix(e.Name(), nameless) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
		if at, word := ends(string(data)); err == nil && word == lineCleared && s.now.Sub(at).Abs() < doubled {
			before = append(before, e.Name())
		}
	}
	if len(before) == 1 {
		_ = os.Rename(filepath.Join(s.dir, before[0]), filepath.Join(s.dir, own)) // else whose its agent is, is known no more
	}
}

// note writes down that the session of a file was seen.
func (c Caller) note(path string) {
	is := ""
	if data, err := os.ReadFile(path); err == nil {
		_, is = ends(string(data))
	}
	if is != c.word {
		f, err := c.seen.make(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
		if err != nil {
			return
		}
		fmt.Fprintf(f, "%d %s\n", c.seen.now.UnixNano(), c.word)
		_ = f.Close() // what is not kept makes an owner uncertain
	}
	_ = os.Chtimes(path, c.seen.now, c.seen.now)
}

// sighting is what a file tells. What cannot be read was seen at no known time.
func (s *seen) sighting(e fs.DirEntry) (x Sighting) {
	info, err := e.Info()
	if err != nil {
		return Sighting{Last: s.now}
	}
	x.Last = info.ModTime()
	data, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
	if err != nil {
		return x
	}
	first, _, _ := strings.Cut(string(data), "\n")
	x.First, _ = parsed(first)
	if at, word := ends(string(data)); word == lineEnded || word == lineCleared {
		x.Ended = at
	}
	return x
}

// ends is the last line of a file of sightings.
func ends(data string) (at time.Time, word string) {
	lines := strings.Split(strings.TrimSuffix(data, "\n"), "\n")
	return parsed(lines[len(lines)-1])
}

func parsed(line string) (at time.Time, word string) {
	digits, word, _ := strings.Cut(line, " ")
	ns, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return time.Time{}, ""
	}
	return time.Unix(0, ns), word
}

// Owner is whose an agent is, as a session sees it.
type Owner int

// The owners.
const (
	Unsure Owner = iota // it may be the caller's
	Own
	Other // it is not the caller's
)

// turn is how long a session may work without a hook that tells of it.
const turn = time.Hour

// Whose tells in which of a client's sessions an agent of its kind registered,
// at a time. It is certain when only one was there then: a session that was
// seen before and had not ended. One of which nothing was seen since an hour
// before did not do it either: a prompt comes before, and an end of the turn or
// another prompt after it.
//
// To compare the processes that a server and a hook descend from was rejected:
// several sessions may share one, and shells stand between.
func Whose(list []Sighting, registered time.Time) Owner {
	var there []Sighting
	for _, s := range list {
		switch {
		case s.First.After(registered):
		case !s.Ended.IsZero() && s.Ended.Before(registered):
		case s.Last.Before(registered.Add(-turn)):
		default:
			there = append(there, s)
		}
	}
	switch {
	case len(there) != 1 || there[0].Nameless || there[0].First.IsZero():
		return Unsure
	case there[0].Own:
		return Own
	case !there[0].Ended.IsZero(): // the caller may go on with it, under another name
		return Unsure
	}
	for _, s := range list {
		if s.Own {
			return Other
		}
	}
	return Unsure // a caller without a name may be any of them
}
