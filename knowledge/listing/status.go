package listing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// StoreStatus counts what a project knows, and says where it is kept.
type StoreStatus struct {
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

	Brings string    `json:"repository_brings,omitempty"` // what the repository holds and nobody took in
	Synced time.Time `json:"synced,omitzero"`             // when facts were last shared through the repository

	Sessions *knowledge.KeptSessions `json:"sessions,omitempty"`

	settings []string // of the repository, that do not count
}

// maxStatusRooms is how many rooms a status names.
const maxStatusRooms = 30

// Status counts facts, rooms and bytes.
func Status(ctx context.Context, s *knowledge.Store, q knowledge.Examining) (StoreStatus, error) {
	o := s.Options()
	r := StoreStatus{Project: o.ProjectRoot, Hash: o.ProjectHash, Dir: s.Dir()}
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		r.Rooms = RoomsOf(st.Reader(), now)
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
		r.Versions, r.Relations = st.VersionCount(), len(st.Relations)
		r.Patterns, r.Gotchas = len(st.Reader().CurrentIn(fact.RoomPattern, now)), len(st.Reader().CurrentIn(fact.RoomGotcha, now))
		r.Reminders = len(reminder.Open(st.Reminders))
		r.Disputes = len(state.OpenDisputes(st, st.Disputed, now))
		r.UpdatedAt, r.Commits = st.At(), st.Seq()
		if st.Replica != nil {
			r.Synced = st.Replica.Synced
		}
		return nil
	})
	if q.Sessions != nil {
		r.Sessions = q.Sessions(ctx)
	}
	r.Brings = knowledge.RepositoryBrings(ctx, s)
	if o.RepositorySettings != nil {
		r.settings = o.RepositorySettings()
	}
	stats := s.Condition().Journal // of the files that the view has just caught up with
	r.Snapshot, r.Journal, r.Overgrown = stats.SnapshotBytes, stats.JournalBytes, knowledge.Overgrown(stats)
	return r, err
}

// Text gives the answer's lines.
func (r StoreStatus) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the lines for a surface. Only a person is told what the repository brings, and how to
// take it in.
func (r StoreStatus) TextIn(call prose.Syntax) string {
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
		fmt.Fprintf(&b, "\nProject: %s (%s)", prose.Name(r.Project), r.Hash)
	}
	if !r.UpdatedAt.IsZero() {
		fmt.Fprintf(&b, "\nLast updated: %s", r.UpdatedAt.Format("2006-01-02 15:04 UTC"))
	}
	if len(r.Rooms) > 0 {
		// Anybody can propose any number of rooms: those with something confirmed come first.
		all := slices.Clone(r.Rooms)
		slices.SortStableFunc(all, func(a, b Room) int { return cmp.Compare(len(a.mark()), len(b.mark())) })
		rooms := make([]string, min(len(all), maxStatusRooms))
		for i, room := range all[:len(rooms)] {
			rooms[i] = fmt.Sprintf("%s%s(%d)", prose.Name(room.Category), room.mark(), room.Facts)
		}
		fmt.Fprintf(&b, "\nRooms: %s", strings.Join(rooms, ", "))
		if n := len(all) - len(rooms); n > 0 {
			fmt.Fprintf(&b, " and %d more: %s", n, call("rooms"))
		}
	}
	fmt.Fprintf(&b, "\nStore: %s (%s, snapshot %d bytes, journal %d bytes)", r.Dir, prose.Count(int(r.Commits), "commit"), r.Snapshot, r.Journal)
	if r.Overgrown {
		b.WriteString("\n" + knowledge.OvergrownLine(r.Journal))
	}
	if r.Sessions != nil {
		b.WriteString("\n" + r.Sessions.Line())
	}
	if !strings.HasPrefix(call("status"), "lean-ctx ") {
		return b.String()
	}
	if r.Brings != "" {
		b.WriteString("\n" + r.Brings + ": lean-ctx sync")
	}
	for _, text := range r.settings {
		b.WriteString("\n⚠ " + text)
	}
	return b.String()
}
