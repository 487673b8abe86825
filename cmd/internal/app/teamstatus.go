package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/prose"
)

func (c teamCommands) status(ctx context.Context, sc op.Scope, _ noArgs) (teamState, error) {
	w, err := c.stores.of(ctx, sc)
	if err != nil {
		return teamState{}, err
	}
	m := w.project.at
	if !m.in() {
		return teamState{}, errNoTeam
	}
	if m.Leaving {
		return teamState{}, errLeaving
	}
	store, err := w.factStore()
	if err != nil {
		return teamState{}, err
	}
	t := teamState{Team: m.Stream, Server: m.URL, Machine: m.Machine}
	was := store.Condition().Journal
	wait, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	err = store.Fetch(wait)
	now := store.Condition().Journal
	t.Seq, t.At, t.Bytes, t.Behind = now.Seq, now.At, now.SnapshotBytes+now.JournalBytes, now.Seq-was.Seq
	if t.Newer = errors.Is(err, journal.ErrNewer); t.Newer {
		t.Problem = err.Error()
		t.Status, err = c.stores.stream(m).Status(wait)
	} else if err == nil {
		t.Status, err = c.report(wait, m)
	}
	t.Full, t.SetBack = errors.Is(err, journal.ErrFull), errors.Is(err, journal.ErrDiverged)
	if now, failed := c.stores.membership(m.hash); failed == nil { // it may have been reached by TLS for the first time
		t.Unproven = now.in() && !now.TLS
	}
	if t.Reachable = err == nil || t.Full; err != nil {
		t.Problem = err.Error()
	}
	return t, nil
}

// statusWait is how long `team status` and doctor wait for the server.
const statusWait = 3 * time.Second

type teamState struct {
	Team      string           `json:"team"`
	Server    string           `json:"server"`
	Machine   string           `json:"machine"`
	Reachable bool             `json:"reachable"`
	Problem   string           `json:"problem,omitempty"`
	Full      bool             `json:"full,omitempty"`     // the server has no room, and refuses writes
	SetBack   bool             `json:"set_back,omitempty"` // it answers, and is not the one that this copy was made from
	Newer     bool             `json:"newer,omitempty"`    // a commit is not understood; reads end before it
	Unproven  bool             `json:"unproven,omitempty"` // no server of it has proved itself here
	Behind    uint64           `json:"behind"`             // commits of the facts that this machine has not fetched
	Seq       uint64           `json:"seq"`                // the last commit of the facts here
	At        time.Time        `json:"at,omitzero"`
	Bytes     int64            `json:"bytes"` // of the copy of the facts
	Status    jetstream.Status `json:"status"`
}

// What is said of a membership from before servers proved that they have the token's seed.
const (
	unproven       = "No server has proved to this machine that it is the team's: whoever listens at its address is believed"
	unprovenAdvice = "Start the server with this version and its token, then join once more: lean-ctx team join URL --token-file FILE"
)

// setBackAdvice is what to do when the server's disk was set back.
const setBackAdvice = "Give the server its newest disk again, or keep the memory that is here: lean-ctx team leave"

// asOf says of when the copy is.
func (t teamState) asOf() string {
	if t.At.IsZero() {
		return "of an empty copy"
	}
	return "as of " + t.At.UTC().Format(time.RFC3339)
}

func (t teamState) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "Team %s at %s\n", t.Team, t.Server)
	line("this machine", "%s, commit %s of the facts, %s", t.Machine, prose.Number(int64(t.Seq)), size(uint64(t.Bytes)))
	if t.Unproven {
		line("not proved", "%s. %s.", unproven, unprovenAdvice)
	}
	if t.SetBack {
		line("server", "answers, but %s", t.Problem)
		line("", "Reads work, %s. Writes are refused. %s.", t.asOf(), setBackAdvice)
		return b.String()
	}
	if !t.Reachable {
		line("server", "not reachable: %s", t.Problem)
		line("", "Reads work, %s. Writes are refused until it answers.", t.asOf())
		return b.String()
	}
	if t.Newer {
		line("not whole", "%s.", t.Problem)
	} else {
		line("lag", "%s behind", prose.Count(int(t.Behind), "commit"))
	}
	if t.Full {
		line("full", "Writes are refused: the server's disk, or a limit of it, leaves no room. Reads work.")
	}
	line("server", "NATS %s, %s away", t.Status.Version, t.Status.RTT.Round(10*time.Microsecond))
	line("stream", "%s, %s and %s of objects, %d of %s current", prose.Count(int(t.Status.Messages), "commit"), size(t.Status.Bytes), size(t.Status.Objects), t.Status.Current, prose.Count(t.Status.Replicas, "replica"))
	if t.Status.LastBy != "" {
		line("last writer", "%s, %s", prose.Line(t.Status.LastBy), t.Status.LastAt.UTC().Format(time.RFC3339))
	}
	for _, m := range t.Status.Machines {
		behind := t.Status.Last - min(m.Last, t.Status.Last)
		if m.Name == t.Status.LastBy {
			behind = 0 // it has what it wrote, and reports that only later
		}
		if m.Name != t.Machine {
			line("machine", "%s, %s behind, seen %s", prose.Line(m.Name), prose.Number(int64(behind)), prose.Ago(t.Status.Now, m.At))
		}
	}
	return b.String()
}

func size(n uint64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// report tells the team what this machine has, after it fetched, and returns the state of the stream.
func (c teamCommands) report(ctx context.Context, m *membership) (jetstream.Status, error) {
	st, err := c.stores.stream(m).Status(ctx)
	if err == nil {
		err = c.stores.stream(m).Report(ctx, st.Last)
	}
	return st, err
}
