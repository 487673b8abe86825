package transfer

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/state"
)

// Published is what [Publish] added to a team.
type Published struct {
	Imported
	Local int // facts that stayed at home
}

// Publish adds the facts of a store to that of a team. What has another value there becomes a
// dispute. Local facts stay, and all that names one. The history calls the import by a name.
func Publish(ctx context.Context, from, to *knowledge.Store, name string) (Published, error) {
	// Nothing is written here. But a write that has begun ends first.
	err := from.Update(ctx, func(*state.State, time.Time) ([]state.Event, error) { return nil, nil })
	if err != nil {
		return Published{}, err
	}
	shared, _, n, err := parted(ctx, from)
	if err != nil {
		return Published{}, err
	}
	in, err := Import(ctx, to, Incoming{File: name, Data: &shared, KeepPrivacy: true, moved: true, DisputeOutdated: true})
	return Published{in, n}, err
}

// BringBack adds the local facts of the store that a project had before it joined a team, and
// all that names one.
func BringBack(ctx context.Context, from, to *knowledge.Store) error {
	_, local, n, err := parted(ctx, from)
	if err == nil && n > 0 {
		_, err = Import(ctx, to, Incoming{File: "local facts", Data: &local, KeepPrivacy: true, moved: true})
	}
	return err
}

// Count is how many active facts a store has.
func Count(ctx context.Context, s *knowledge.Store) (n int, err error) {
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		n = active(st, now)
		return nil
	})
	return n, err
}

func active(st *state.State, now time.Time) (n int) {
	for _, room := range listing.RoomsOf(st.Reader(), now) {
		n += room.Facts
	}
	return n
}

// activeIn is how many of the facts that these are versions of are active.
func activeIn(st *state.State, now time.Time, versions []*formats.Fact) (n int) {
	names := map[fact.ID]bool{}
	for _, f := range versions {
		names[fact.IDOf(f.Category, f.Key)] = true
	}
	for name, x := range st.Reader().Summaries(now) {
		if names[name] && !x.Archived && x.Period.Contains(now) {
			names[name] = false
			n++
		}
	}
	return n
}

// parted is a store in two files: what a team gets, and the local facts with all that names one. n
// is how many local facts there are.
func parted(ctx context.Context, s *knowledge.Store) (shared, local bytes.Buffer, n int, err error) {
	err = s.View(ctx, func(st *state.State, _ time.Time) error {
		shared.Reset()
		local.Reset()
		d := exportOf(st, s)
		own := &formats.Document{Schema: d.Schema}
		names := map[fact.ID]bool{}
		for _, v := range d.Facts {
			if v.Privacy == knowledge.PrivacyLocal {
				own.Facts = append(own.Facts, v)
				names[fact.IDOf(v.Category, v.Key)] = true
			}
		}
		d.Facts = slices.DeleteFunc(d.Facts, func(v *formats.Fact) bool { return v.Privacy == knowledge.PrivacyLocal })
		d.Relations, own.Relations = state.Relations.Part(st, d.Relations)
		d.Disputes, own.Disputes = state.Disputes.Part(st, d.Disputes)
		d.JudgedPairs, own.JudgedPairs = state.Judged.Part(st, d.JudgedPairs)
		for name := range names {
			for _, r := range st.Trail(name) {
				if !slices.Contains(own.Renames, r) {
					own.Renames = append(own.Renames, r)
				}
			}
		}
		d.Renames = slices.DeleteFunc(slices.Clone(d.Renames), func(r formats.Rename) bool { return slices.Contains(own.Renames, r) })
		n = len(names)
		return errors.Join(fact.EncodeFile(&shared, d), fact.EncodeFile(&local, own))
	})
	return shared, local, n, err
}
