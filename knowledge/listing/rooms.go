package listing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Room is a category with what it holds.
type Room struct {
	Category string `json:"category"`
	Facts    int    `json:"facts"`                 // current and active
	Archived int    `json:"archived,omitempty"`    // current, outside the active set
	Foreign  bool   `json:"unconfirmed,omitempty"` // nothing in it is confirmed here, so that its name is a text of others
}

// RoomList is every room of a project, the fullest first.
type RoomList struct {
	Rooms []Room `json:"rooms"`
}

// RoomQuery asks for the rooms.
type RoomQuery struct {
	AsOf string `json:"as_of,omitempty" jsonschema:"the facts that were true then: RFC 3339, a day (its end, UTC), a month, an age such as 3d, or words (last week)"`
}

// Rooms counts by category the facts that are current, or were at an instant.
func Rooms(ctx context.Context, s *knowledge.Store, q RoomQuery) (RoomList, error) {
	var r RoomList
	if q.AsOf == "" {
		err := s.ViewSome(ctx, func(k state.Reader, now time.Time) error {
			r.Rooms = RoomsOf(k, now)
			return nil
		})
		return r, err
	}
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		t, err := args.ParseInstant("as_of", q.AsOf, s.Now(), true)
		if err != nil {
			return err
		}
		then := counter{}
		for _, v := range st.Matching(&state.Filter{Now: now, AsOf: t.Time, Archived: true}) {
			r := then.room(st, fact.IDOf(v.Category, v.Key))
			r.Facts++
			r.Foreign = r.Foreign && fact.Unconfirmed(v)
		}
		r.Rooms = then.rooms()
		return nil
	})
	return r, err
}

// RoomsOf counts the facts that are current at now, the present, by category, the
// fullest first. One of several values counts once.
func RoomsOf(k state.Reader, now time.Time) []Room {
	c := counter{}
	var last fact.ID // the versions of a fact come one after the other
	counted, active := false, false
	for n, x := range k.Summaries(now) {
		if n != last {
			last, counted, active = n, false, false
		}
		if active || counted && x.Archived || !x.Period.Contains(now) {
			continue
		}
		r := c.room(k, n)
		r.Foreign = r.Foreign && x.Unconfirmed
		switch {
		case x.Archived:
			r.Archived++
		case counted: // another value of it is archived
			r.Archived--
			r.Facts++
		default:
			r.Facts++
		}
		counted, active = true, !x.Archived
	}
	return c.rooms()
}

// counter counts facts by category.
type counter map[string]*Room

func (c counter) room(facts state.Facts, n fact.ID) *Room {
	if c[n.Category] == nil {
		c[n.Category] = &Room{Category: facts.Room(n.Category), Foreign: true}
	}
	return c[n.Category]
}

// rooms are the counts, the fullest room first.
func (c counter) rooms() []Room {
	out := make([]Room, 0, len(c))
	for _, r := range c {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Room) int {
		return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.Category, b.Category))
	})
	return out
}

// mark is what stands after the name of a room of others.
func (r Room) mark() string {
	if r.Foreign {
		return "?"
	}
	return ""
}

// Text gives the answer's lines.
func (r RoomList) Text() string {
	if len(r.Rooms) == 0 {
		return "Knowledge Rooms (0 rooms): nothing is stored for this project yet"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Knowledge Rooms (%s):", prose.Count(len(r.Rooms), "room"))
	for _, room := range r.Rooms {
		fmt.Fprintf(&b, "\n  [%s]%s %s", prose.Name(room.Category), room.mark(), prose.Count(room.Facts, "fact"))
		if room.Archived > 0 {
			fmt.Fprintf(&b, ", %d archived", room.Archived)
		}
	}
	return b.String()
}
