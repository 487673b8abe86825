package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// Nothing is the argument of an operation that takes none.
type Nothing struct{}

// Room is a category with what it holds.
type Room struct {
	Category string `json:"category"`
	Facts    int    `json:"facts"`              // current and active
	Archived int    `json:"archived,omitempty"` // current, outside the active set
}

// RoomList is every room of a project, the fullest first.
type RoomList struct {
	Rooms []Room `json:"rooms"`
}

// RoomQuery asks for the rooms.
type RoomQuery struct {
	AsOf string `json:"as_of,omitempty" jsonschema:"the facts that were true then: RFC 3339, a day (its end, UTC) or an age such as 3d"`
}

// Rooms counts by category the facts that are current, or were at an instant.
func (s *Store) Rooms(ctx context.Context, q RoomQuery) (RoomList, error) {
	var r RoomList
	if q.AsOf == "" {
		err := s.Look(ctx, func(k state.Known, now time.Time) error {
			r.Rooms = RoomsOf(k, now)
			return nil
		})
		return r, err
	}
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		t, err := fact.ParseInstant("as_of", q.AsOf, s.Now(), true)
		if err != nil {
			return err
		}
		then := counter{}
		for _, v := range st.Matching(&state.Filter{Now: now, AsOf: t.Time, Archived: true}) {
			then.room(st, fact.IDOf(v.Category, v.Key)).Facts++
		}
		r.Rooms = then.rooms()
		return nil
	})
	return r, err
}

// RoomsOf counts the facts that are current at now, the present, by category, the
// fullest first. One of several values counts once.
func RoomsOf(k state.Known, now time.Time) []Room {
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
		c[n.Category] = &Room{Category: facts.Room(n.Category)}
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

// Text gives the answer's lines.
func (r RoomList) Text() string {
	if len(r.Rooms) == 0 {
		return "Knowledge Rooms (0 rooms): nothing is stored for this project yet"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Knowledge Rooms (%s):", prose.Count(len(r.Rooms), "room"))
	for _, room := range r.Rooms {
		fmt.Fprintf(&b, "\n  [%s] %d fact(s)", prose.Line(room.Category), room.Facts)
		if room.Archived > 0 {
			fmt.Fprintf(&b, ", %d archived", room.Archived)
		}
	}
	return b.String()
}

// Status counts what a project knows.
type Status struct {
	Project    string    `json:"project"`
	Hash       string    `json:"project_hash"`
	Facts      int       `json:"facts"`
	Archived   int       `json:"archived"`   // superseded and dormant
	Superseded int       `json:"superseded"` // versions whose time is over
	Dormant    int       `json:"dormant"`    // facts outside the active set
	Versions   int       `json:"versions"`
	Patterns   int       `json:"patterns"`
	Gotchas    int       `json:"gotchas"`
	Relations  int       `json:"relations"`
	Reminders  int       `json:"reminders"`          // open ones
	Disputes   int       `json:"disputes,omitempty"` // open ones
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
	Since      time.Time `json:"since,omitzero"` // when the oldest version begins
	Commits    uint64    `json:"commits"`
	Snapshot   int64     `json:"snapshot_bytes"`
	Journal    int64     `json:"journal_bytes"`
	Overgrown  bool      `json:"journal_overgrown,omitempty"` // so long that it slows every command: compact mends it
	Dir        string    `json:"dir"`
	Rooms      []Room    `json:"rooms"`
}

// Status counts facts, rooms and bytes.
func (s *Store) Status(ctx context.Context, _ Nothing) (Status, error) {
	r := Status{Project: s.opts.ProjectRoot, Hash: s.opts.ProjectHash, Dir: s.dir}
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		r.Rooms = RoomsOf(st.Known(), now)
		for _, room := range r.Rooms {
			r.Facts, r.Dormant = r.Facts+room.Facts, r.Dormant+room.Archived
		}
		for n, v := range st.Each() {
			if r.Since.IsZero() || v.ValidFrom.Before(r.Since) {
				r.Since = v.ValidFrom
			}
			if p, ok := fact.PeriodNow(v, st.Versions(n), now); ok && v.RetractedAt == nil && !p.From.After(now) && !p.Contains(now) {
				r.Superseded++
			}
		}
		r.Archived = r.Superseded + r.Dormant
		r.Versions, r.Patterns, r.Gotchas, r.Relations = st.VersionCount(), len(st.Patterns), len(st.Gotchas), len(st.Relations)
		r.Reminders = len(reminder.Open(st.Reminders))
		r.Disputes = len(state.OpenDisputes(st, st.Disputed, now))
		r.UpdatedAt, r.Commits = st.At(), st.Seq()
		return nil
	})
	stats := s.log.Stats() // of the files that the view has just caught up with
	r.Snapshot, r.Journal, r.Overgrown = stats.SnapshotBytes, stats.JournalBytes, Overgrown(stats)
	return r, err
}

// Text gives the answer's lines.
func (r Status) Text() string {
	var b strings.Builder
	archived := fmt.Sprintf("%d archived", r.Archived)
	if r.Archived > 0 {
		archived += fmt.Sprintf(": %d superseded, %d dormant", r.Superseded, r.Dormant)
	}
	fmt.Fprintf(&b, "Project Knowledge: %s (%s), %s, %s, %s, %s", prose.Count(r.Facts, "active fact"), archived,
		prose.Count(r.Versions, "version"), prose.Count(r.Patterns, "pattern"), prose.Count(r.Gotchas, "gotcha"), prose.Count(r.Reminders, "open reminder"))
	if r.Disputes > 0 {
		fmt.Fprintf(&b, ", %s", prose.Count(r.Disputes, "open dispute"))
	}
	if r.Project != "" {
		fmt.Fprintf(&b, "\nProject: %s (%s)", prose.Line(r.Project), r.Hash)
	}
	if !r.UpdatedAt.IsZero() {
		fmt.Fprintf(&b, "\nLast updated: %s", r.UpdatedAt.Format("2006-01-02 15:04 UTC"))
	}
	if len(r.Rooms) > 0 {
		rooms := make([]string, len(r.Rooms))
		for i, room := range r.Rooms {
			rooms[i] = fmt.Sprintf("%s(%d)", prose.Line(room.Category), room.Facts)
		}
		fmt.Fprintf(&b, "\nRooms: %s", strings.Join(rooms, ", "))
	}
	fmt.Fprintf(&b, "\nStore: %s (%s, snapshot %d bytes, journal %d bytes)", r.Dir, prose.Count(int(r.Commits), "commit"), r.Snapshot, r.Journal)
	if r.Overgrown {
		b.WriteString("\n" + OvergrownLine(r.Journal))
	}
	return b.String()
}
