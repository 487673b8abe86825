package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/state"
)

// Erased facts in a team
//
// Who erases a fact commits a tombstone, takes the bytes off its own disk, and has the team's stream
// do the same: a snapshot of the state without the fact takes the place of the commits that had it.
// Another machine has forgotten the fact when it has fetched the tombstone. Its files have the
// bytes until it writes them anew too. A server does that in the background and a command at its
// end, when the tombstones are not those of the last time, which the file "erased" names.

// erasedFile names the tombstones whose facts are off the disk.
const erasedFile = "erased"

// expunge takes an erased fact out of the team's stream. It returns false if the stream keeps
// every commit. gone are the fact's versions. An erasure that is asked for again does not know
// them, and takes out all commits before the snapshot.
func (s *Store) expunge(ctx context.Context, gone []*fact.Version) (bool, error) {
	var holds func([]byte) bool
	if len(gone) > 0 {
		holds = state.Holding(gone)
	}
	return s.log.Expunge(ctx, holds)
}

// tombstones names the set of all tombstones; empty if there is none.
func (s *Store) tombstones(ctx context.Context) (sum string, names []Name, err error) {
	var all []string
	err = s.Look(ctx, func(k state.Known, _ time.Time) error {
		for t := range k.Tombstones() {
			all = append(all, fmt.Sprintf("%q %q %d", t.Category, t.Key, t.ErasedAt.UnixNano()))
			names = append(names, Name{Category: t.Category, Key: t.Key})
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return "", nil, err
	}
	slices.Sort(all)
	digest := sha256.Sum256([]byte(strings.Join(all, "\n")))
	return hex.EncodeToString(digest[:]), names, nil
}

// tidyErased takes off this disk what was erased in the team, if it is not known to be off it. again
// does it in any case.
func (s *Store) tidyErased(ctx context.Context, again bool) error {
	if s.opts.Team == nil {
		return nil
	}
	sum, names, err := s.tombstones(ctx)
	if err != nil || sum == "" {
		return err
	}
	mark := filepath.Join(s.dir, erasedFile)
	if last, _ := os.ReadFile(mark); !again && string(last) == sum { // one that cannot be read names nothing
		return nil
	}
	versions, err := s.orphanedVectors(ctx)
	if err != nil {
		return err
	}
	if err := s.purge(ctx, versions); err != nil {
		return err
	}
	if s.opts.Erased != nil {
		if err := s.opts.Erased(s.dir, names); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, []byte(sum), 0o600)
}

// EraseShared erases facts whose team has erased them. It is for what was remembered before the
// project joined. A fact with a local version stays: that is not the team's.
func (s *Store) EraseShared(ctx context.Context, names []Name) error {
	return s.TakeIn(ctx, func(st *state.State, now time.Time) (events []state.Event, err error) {
		for _, n := range names {
			vs := st.Versions(fact.IDOf(n.Category, n.Key))
			if len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.Privacy == PrivacyLocal }) {
				events = append(events, state.Event{Erase: &formats.Tombstone{Category: n.Category, Key: n.Key, ErasedAt: now}})
			}
		}
		return events, nil
	})
}

// orphanedVectors are the versions that have vectors and are no longer there.
func (s *Store) orphanedVectors(ctx context.Context) (versions []string, err error) {
	x := s.vectors.index
	if x == nil {
		return nil, nil
	}
	known := map[string]bool{}
	err = s.View(ctx, func(st *state.State, _ time.Time) error {
		for _, v := range st.Each() {
			known[v.ID] = true
		}
		for _, v := range st.Lessons() {
			known[v.ID] = true
		}
		return nil
	})
	for _, e := range x.Entries() {
		x.Count(e.Name, func(id string) bool {
			if version := meaning.VersionOf(id); !known[version] && !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
			return false
		})
	}
	return versions, err
}
