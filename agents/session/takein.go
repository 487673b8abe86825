package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"leanctx/formats/transcript"
	"leanctx/internal/atomicfile"
)

// Taken is what was taken in of a transcript.
type Taken struct {
	ID       string // of the session; empty if it has nothing yet
	Turns    int
	Repeated int // messages that were known already
	Began    time.Time
	transcript.Counts
}

// The transcripts that are not taken in.
var (
	ErrElsewhere = errors.New("the session is of another project")
	ErrErased    = errors.New("the session was erased")
)

// TakeIn takes in what a client's transcript has since the last time, at most about so many bytes of it; 0: all. A
// transcript that is not there yet is none. It returns ErrBusy while another process takes in, and ErrElsewhere or
// ErrErased for one that is not wanted here.
func (s *Store) TakeIn(ctx context.Context, client, path string, most int64) (t Taken, err error) {
	file, own := s.transcriptName(client, path)
	t.ID = idOf(client, file[len(client)+1:])
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return Taken{}, nil
	}
	if same, err := s.upToDate(file, path); err == nil && same {
		return t, nil // the usual case beside a prompt: no lock, nothing written
	}
	unlock, err := s.lock()
	if err != nil {
		return t, err
	}
	defer unlock()
	r, err := s.record(file, t.ID)
	if err != nil {
		return t, err
	}
	r.foreign = !own
	return s.takeIn(ctx, t, r, client, path, most)
}

// record reads the session that is kept in a file: an empty one, without an id, where there is none yet. It
// returns ErrErased for one that is not wanted here. The sessions are locked.
func (s *Store) record(file, id string) (*Record, error) {
	erased, err := s.erased()
	if err != nil {
		return nil, err
	}
	if erased.ids[id] {
		return nil, ErrErased
	}
	r, err := s.read(file)
	none := &Record{file: file, Fold: Fold{Version: foldVersion}}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, nil
	case errors.Is(err, errNoSession): // killed within the first line
		return none, os.Truncate(s.path(file), 0)
	}
	return r, err
}

// upToDate reports whether all of a transcript was read, by its size.
func (s *Store) upToDate(file, path string) (bool, error) {
	r, err := s.read(file)
	if err != nil {
		return false, err
	}
	info, err := os.Lstat(path)
	return err == nil && !r.torn && info.Size() == r.place.Offset && atomicfile.Settled(info, s.options.Now()) && r.place.Offset > 0, err
}

// maxStart is how many bytes may come before the first turn of a transcript.
const maxStart = 4 << 20

// takeIn is TakeIn under the lock.
func (s *Store) takeIn(ctx context.Context, t Taken, r *Record, client, path string, most int64) (Taken, error) {
	off, err := s.pausedTimes(client, path, r)
	if err != nil {
		return t, err
	}
	var batch []Turn
	paused, line, stop := 0, int64(-1), halfTime(ctx)
	add := func(x transcript.Turn) error {
		switch {
		case off.coversTurn(&x):
			paused++
			return nil
		case len(batch) > 0 && x.Offset != line && !stop.IsZero() && time.Now().After(stop):
			return errEnough
		}
		line = x.Offset
		batch = append(batch, s.turn(&x, path))
		return nil
	}
	before := r.place
	place, counts, err := transcript.Read(ctx, client, path, r.place, most, add)
	for err == nil && r.ID == "" && len(batch) == 0 && counts.More && place.Offset < maxStart {
		// A place is kept with a session, and a session begins with its first turn. What comes before is read at once.
		place, counts, err = transcript.Read(ctx, client, path, place, most, add)
	}
	if errors.Is(err, errEnough) {
		counts.More, err = true, nil
	}
	t.Counts = counts
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	if r.ID == "" {
		if s.options.Within != nil && place.Dir != "" && !s.options.Within(place.Dir) {
			return t, ErrElsewhere
		}
		if len(batch) == 0 && (paused == 0 || !counts.More) {
			return t, nil // nothing was said yet that is kept
		}
		r.Header = s.header(t.ID, client, path, place.Session)
		r.Header.Imported = r.foreign
	}
	t.Began = r.Began
	if len(batch) == 0 && place.Offset == before.Offset && len(place.Calls) == len(before.Calls) && place.Sum == before.Sum {
		return t, nil
	}
	kept, err := s.unknown(ctx, r, batch)
	if err != nil {
		return t, err
	}
	t.Repeated = len(batch) - len(kept)
	t.Turns = len(kept)
	place.Calls = slices.DeleteFunc(s.cleanCalls(place.Calls), func(c transcript.Call) bool { return off.covers(c.At) })
	place.Dir, place.Branch = s.clean(place.Dir), s.clean(place.Branch)
	return t, s.write(r, kept, &place, counts.More)
}

// errEnough ends a read whose turns take more time than there is. The next one goes on behind them.
var errEnough = errors.New("no more time")

// halfTime is when half of the time is over that a caller has; zero: there is no end. Turns are made ready until then, so that
// what is slow is taken in piece by piece, and not begun anew for ever.
func halfTime(ctx context.Context) time.Time {
	end, limited := ctx.Deadline()
	if !limited {
		return time.Time{}
	}
	return time.Now().Add(time.Until(end) / 2)
}

// write appends turns to a session, and the place up to which its transcript was read. There is more of it to come.
func (s *Store) write(r *Record, turns []Turn, place *transcript.Place, more bool) (err error) {
	var out bytes.Buffer
	if r.torn {
		out.WriteByte('\n')
	}
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if r.size == 0 {
		err = enc.Encode(r.Header)
	}
	keys := make([]key, 0, len(turns))
	for i := range turns {
		turn := turns[i]
		turn.N = r.Fold.Turns + 1
		if s.options.Prompts && turn.Role != transcript.User {
			turn = Turn{N: turn.N, ID: turn.ID, At: turn.At, Role: turn.Role}
		}
		r.Fold.add(&turn)
		err = errors.Join(err, enc.Encode(turn))
		keys = append(keys, turn.key())
	}
	m := mark{Place: place}
	if r.Fold.since += int64(out.Len()); r.Fold.since > foldEvery || r.size == 0 && !more {
		m.Fold = r.Fold.bounded()
	}
	if err = errors.Join(err, enc.Encode(m)); err == nil {
		err = s.appendTo(r, out.Bytes())
	}
	if err != nil {
		return err
	}
	return s.addKeys(keys)
}

// header is the first line of a session.
func (s *Store) header(id, client, path string, of transcript.Session) Header {
	began := of.Began
	if began.IsZero() {
		began = s.options.Now().UTC()
	}
	return Header{
		Version: headerVersion, ID: id, Client: client, Name: s.clean(of.ID), Parent: s.clean(of.Parent), Dir: s.clean(of.Dir),
		Branch: s.clean(of.Branch), File: s.clean(path), Began: began.Truncate(time.Second),
	}
}

// appendTo appends to a session's file. After an error the file is as long as it was.
func (s *Store) appendTo(r *Record, text []byte) error {
	path := s.path(r.file)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err != nil {
		err = errors.Join(fmt.Errorf("session %s: %w", r.ID, err), f.Truncate(r.size))
	}
	return errors.Join(err, f.Close())
}

// unknown are the turns that no session of the project holds.
func (s *Store) unknown(ctx context.Context, r *Record, batch []Turn) (kept []Turn, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	wanted := make(map[key]bool, len(batch)) // true: it is known
	for i := range batch {
		wanted[batch[i].key()] = false
	}
	if err := s.markKnown(ctx, r, wanted); err != nil {
		return nil, err
	}
	for _, k := range r.extra { // a killed process wrote them, and not their ids
		if _, ok := wanted[k]; ok {
			wanted[k] = true
		}
	}
	for _, x := range batch {
		if k := x.key(); !wanted[k] {
			wanted[k] = true
			kept = append(kept, x)
		}
	}
	return kept, nil
}

// Events are what hooks tell of a session whose client names no transcript.
type Events struct {
	Client, Session string // the client's name of it
	Dir             string
	Turns           []transcript.Turn
}

// doubleSeconds is within how many seconds two equal turns that hooks told are one: the hooks of two clients may report one
// session.
const doubleSeconds = 10

// Note takes in turns that hooks told.
func (s *Store) Note(ctx context.Context, e Events) (t Taken, err error) {
	if e.Session == "" || len(e.Turns) == 0 {
		return t, nil
	}
	file := fileName(e.Client, e.Session)
	t.ID = idOf(e.Client, file[len(e.Client)+1:])
	unlock, err := s.lock()
	if err != nil {
		return t, err
	}
	defer unlock()
	r, err := s.record(file, t.ID)
	if err != nil {
		return t, err
	}
	if r.ID == "" {
		r.Header = s.header(t.ID, e.Client, "", transcript.Session{ID: e.Session, Dir: e.Dir})
	}
	before := make(map[key]bool, len(e.Turns)*(doubleSeconds+1))
	keys := func(x transcript.Turn) (list []key) {
		for n := range doubleSeconds + 1 {
			list = append(list, keyOf(turnID(&x), x.At.Add(-time.Duration(n)*time.Second)))
		}
		return list
	}
	for _, x := range e.Turns {
		for _, k := range keys(x) {
			before[k] = false
		}
	}
	if err := s.markKnown(ctx, r, before); err != nil {
		return t, err
	}
	var kept []Turn
	for _, x := range e.Turns {
		if !slices.ContainsFunc(keys(x), func(k key) bool { return before[k] || slices.Contains(r.extra, k) }) {
			kept = append(kept, s.turn(&x, ""))
		}
	}
	if len(kept) == 0 {
		return t, nil
	}
	t.Turns = len(kept)
	return t, s.write(r, kept, &transcript.Place{}, true)
}
