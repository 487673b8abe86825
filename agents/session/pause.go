package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leanctx/formats/transcript"
	"leanctx/internal/spool"
)

// A pause is a time in which sessions were off: those of a project, which `session off` tells to the second, or the one
// of a transcript, which hooks tell that find sessions off by a setting. A client goes on writing its transcript
// meanwhile. What it wrote then is not taken in later either, also when it is repeated in another transcript.
type pause struct {
	Project    string    `json:"project,omitempty"`
	Transcript string    `json:"transcript,omitempty"` // a checksum of client and path
	Off        time.Time `json:"off"`                  // of a transcript: when a hook first found sessions off
	On         time.Time `json:"on,omitzero"`          // when they were on again; zero: they are off
}

// pausesName is a log of pauses in the folder of all projects: what was off stays so when a project is forgotten.
const pausesName = "paused.jsonl"

func transcriptKey(client, path string) string {
	h := sha256.Sum256([]byte(client + "\x00" + transcript.Plain(path)))
	return hex.EncodeToString(h[:8])
}

// pauses are those that were noted in a folder. A later line ends the pause of an earlier one.
func pauses(folder string) (list []pause, err error) {
	text, err := os.ReadFile(filepath.Join(folder, pausesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(text) {
		var p pause
		if json.Unmarshal(line, &p) != nil || p.Off.IsZero() {
			continue // it was torn
		}
		i := slices.IndexFunc(list, func(x pause) bool {
			return x.Transcript == p.Transcript && x.Project == p.Project && x.Off.Equal(p.Off)
		})
		if i < 0 {
			list = append(list, p)
		} else {
			list[i] = p
		}
	}
	return list, err
}

func note(folder string, p pause) error {
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, pausesName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = spool.Append(f, line)
	return errors.Join(err, f.Close())
}

// Pause notes that a hook found sessions off by a setting while a client writes a transcript.
func Pause(data, client, path string, now time.Time) error {
	if _, given := ConsentIn(data); !given || path == "" {
		return nil // nothing is kept of the time before the consent
	}
	p, err := paused(data, client, path)
	if err != nil || p != nil {
		return err
	}
	return note(filepath.Join(data, folder), pause{Transcript: transcriptKey(client, path), Off: now.UTC()})
}

// Resume notes that a hook found sessions on again.
func Resume(data, client, path string, now time.Time) error {
	p, err := paused(data, client, path)
	if err != nil || p == nil {
		return err
	}
	p.On = now.UTC()
	return note(filepath.Join(data, folder), *p)
}

// paused is the pause of a transcript that has not ended; nil: there is none.
func paused(data, client, path string) (*pause, error) {
	list, err := pauses(filepath.Join(data, folder))
	i := slices.IndexFunc(list, func(p pause) bool { return p.Transcript == transcriptKey(client, path) && p.On.IsZero() })
	if i < 0 {
		return nil, err
	}
	return &list[i], err
}

// Since returns the sessions without what was said before a time: nobody had agreed to it then. What a person has
// taken in of that time is kept.
func (s *Store) Since(t time.Time) *Store {
	other := *s
	other.since = t
	return &other
}

// pausedTimes are the times of which nothing of a transcript is kept.
type pausedTimes struct {
	until  time.Time // nothing that was said before it
	always bool      // nothing
	list   []pause
	last   time.Time // of the turn before
}

// pausedTimes are those of a transcript. In one that nothing is kept of yet, what was said in another one may stand again:
// the client made a fork.
func (s *Store) pausedTimes(client, path string, r *Record) (p pausedTimes, err error) {
	p.until, p.last = s.since, r.Fold.Last
	all, err := pauses(filepath.Dir(s.dir))
	for _, x := range all {
		switch {
		case x.Transcript == transcriptKey(client, path):
			p.always = p.always || x.On.IsZero()
			if x.On.After(p.until) {
				p.until = x.On
			}
		case x.Project == filepath.Base(s.dir), x.Transcript != "" && r.Fold.Turns == 0:
			p.list = append(p.list, x)
		}
	}
	return p, err
}

// covers reports whether sessions were off at a time.
func (p *pausedTimes) covers(at time.Time) bool {
	if p.always || at.Before(p.until) {
		return true
	}
	return slices.ContainsFunc(p.list, func(x pause) bool { return at.IsZero() || !at.Before(x.Off) && (x.On.IsZero() || at.Before(x.On)) })
}

// coversTurn reports whether a turn was said, or ended, while sessions were off. One without a time is of that of the turn before.
func (p *pausedTimes) coversTurn(x *transcript.Turn) bool {
	if !x.At.IsZero() {
		p.last = x.At
	}
	return p.covers(p.last) || !x.Ended.IsZero() && p.covers(x.Ended)
}
