package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/notice"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Erased facts in a team
//
// The machine that erases a fact commits a tombstone and removes the bytes from its own disk. In the
// team's stream, a snapshot of the state without the fact replaces the commits that had it. Another
// machine forgets the fact when it fetches the tombstone. Its files have the bytes until it rewrites
// them: a server in the background, a command at its end. The file "erased" names the tombstones for
// which that is done.

// erasedFile names the tombstones whose facts are off the disk.
const erasedFile = "erased"

// eraser takes facts that were erased off this disk.
type eraser struct {
	dir     string
	log     *state.Log
	vectors *vectorSync
	notices *notice.Pending
	team    bool
	others  func(dir string, r *formats.Replica, erased []formats.Tombstone) error // [Options].Erased
}

// purge writes the facts, the index and the vectors without what was erased.
func (e *eraser) purge(ctx context.Context) error {
	if err := errors.Join(e.log.Purge(ctx), e.vectors.prune(ctx)); err != nil {
		return err
	}
	if err := e.log.Sync(ctx, syncTail, nil); err != nil {
		e.notices.Add("the index was not written: %v", err)
	}
	if built := e.vectors.instant(); built != nil { // in the new files nobody finds the old tail
		e.vectors.update(ctx, *built)
	}
	return nil
}

// tidy takes off this disk what was erased, if it is not known to be off it. again does it in any
// case.
func (e *eraser) tidy(ctx context.Context, again bool) error {
	sum, r, erased, err := e.tombstones(ctx)
	if err != nil || sum == "" {
		return err
	}
	mark := filepath.Join(e.dir, erasedFile)
	if last, _ := os.ReadFile(mark); !again && string(last) == sum { // one that cannot be read names nothing
		return nil
	}
	if err := e.purge(ctx); err != nil {
		return err
	}
	if e.others != nil {
		if err := e.others(e.dir, r, erased); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, []byte(sum), 0o600)
}

// follow is tidy in a team. Without one, who erases does it all.
func (e *eraser) follow(ctx context.Context) error {
	if !e.team {
		return nil
	}
	return e.tidy(ctx, false)
}

// TidyErased takes off this disk what a team erased that the store has left.
func TidyErased(ctx context.Context, s *Store) error { return s.eraser.tidy(ctx, false) }

// tombstones returns all tombstones and a name of the set, empty if there is none, and as which replica
// the store is shared.
func (e *eraser) tombstones(ctx context.Context) (sum string, r *formats.Replica, erased []formats.Tombstone, err error) {
	var all []string
	err = e.log.ViewSome(ctx, func(k state.Reader) error {
		r = k.Replica
		for t := range k.Tombstones() {
			// More of a fact may be erased later, under the same tombstone: its versions tell.
			all = append(all, fmt.Sprintf("%q %q %d %q", t.Category, t.Key, t.ErasedAt.UnixNano(), t.Versions))
			erased = append(erased, t)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return "", nil, nil, err
	}
	slices.Sort(all)
	digest := sha256.Sum256([]byte(strings.Join(all, "\n")))
	return hex.EncodeToString(digest[:]), r, erased, nil
}

// EraseShared erases facts whose team has erased them. It is for what was remembered before the
// project joined. A fact with a local version stays: that is not the team's. So does one that was
// remembered after the erasure.
func EraseShared(ctx context.Context, s *Store, erased []formats.Tombstone) error {
	return TakeIn(ctx, s, func(st *state.State, now time.Time) (events []state.Event, err error) {
		for _, t := range erased {
			vs := st.Versions(fact.IDOf(t.Category, t.Key))
			if len(vs) > 0 && !RememberedAfter(t, vs) && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.Privacy == PrivacyLocal }) {
				events = append(events, state.Event{Erase: &formats.Tombstone{Category: t.Category, Key: t.Key, ErasedAt: now}})
			}
		}
		return events, nil
	})
}

// RememberedAfter reports whether all versions of a fact were recorded after an erasure of its name:
// then they are not what was erased.
func RememberedAfter(t formats.Tombstone, vs []*fact.Version) bool {
	return len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return !v.CreatedAt.After(t.ErasedAt) })
}
