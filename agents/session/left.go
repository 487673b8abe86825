package session

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"leanctx/formats/transcript"
)

// Source is a transcript of a client.
type Source struct{ Client, Path string }

// maxLeft is how many transcripts are looked at for what a client that was killed has left there.
const maxLeft = 8

// Keeps reports whether a transcript lies where its client keeps them. Another one is taken in for a person who names it.
func (s *Store) Keeps(client, path string) bool {
	return s.options.Own == nil || s.options.Own(client, path)
}

// TakeInLeft takes in what transcripts have since the last time, at most about so many bytes of all: of those given, the
// newest first, and of those of the newest sessions. except is left out.
func (s *Store) TakeInLeft(ctx context.Context, given []Source, except string, most int64) error {
	latest, err := s.latest()
	if err != nil {
		return err
	}
	seen := map[string]bool{"": true, except: true}
	for _, list := range [][]Source{given, latest} {
		looked := 0
		for _, x := range list {
			if seen[x.Path] || transcript.IsCompressed(x.Path) || looked == maxLeft || !s.Keeps(x.Client, x.Path) {
				continue
			}
			seen[x.Path] = true
			looked++
			t, err := s.TakeIn(ctx, x.Client, x.Path, most)
			if errors.Is(err, ErrBusy) || context.Cause(ctx) != nil {
				return err
			}
			// What cannot be taken in of one session keeps back no other.
			if most -= t.Bytes; most <= 0 {
				return nil
			}
		}
	}
	return nil
}

// latest are the transcripts of the newest sessions that were taken in.
func (s *Store) latest() (list []Source, err error) {
	type named struct {
		name     string
		modified time.Time
	}
	var files []named
	names, err := s.files()
	for _, name := range names {
		if info, e := os.Lstat(s.path(name)); e == nil {
			files = append(files, named{name, info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b named) int { return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.name, b.name)) })
	for _, f := range files[:min(len(files), maxLeft)] {
		r, e := s.read(f.name)
		if e != nil || !slices.Contains(transcript.Names(), r.Client) {
			continue
		}
		list = append(list, Source{r.Client, r.File})
	}
	return list, err
}
