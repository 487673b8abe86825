package agents

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"leanctx/internal/journal"
)

// document is the registry's file.
type document struct {
	Projects []section `json:"projects"`
}

// section is one project's part of it, but for the scratchpad (what somebody
// is still to see), which is lifted out before the rest is decoded.
type section struct {
	Hash     string     `json:"project_hash"`
	Root     string     `json:"project_root"`
	Messages uint64     `json:"last_message"`
	Fence    uint64     `json:"last_token"`
	Handed   uint64     `json:"last_handoff"`
	Agents   []*agent   `json:"agents"`
	Claims   []*lease   `json:"claims"`
	Handoffs []*handoff `json:"handoffs"`
	Findings []*message `json:"findings"` // what everybody has seen and consolidation may want
}

// Encode writes one record a line, so that the file can be read and compared.
func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	b := &sheet{w: bufio.NewWriterSize(w, 1<<16)}
	messages := 0
	fmt.Fprintf(b, "{\n  \"schema\": %d,\n  \"updated_at\": %q,\n  \"checksum\": %q,\n  \"seq\": %d,\n  \"generation\": %d,\n  \"projects\": [",
		h.Schema, h.At.UTC().Format(time.RFC3339Nano), h.Checksum, h.Seq, h.Generation)
	sep := "\n"
	for _, hash := range slices.Sorted(maps.Keys(s.projects)) {
		p := s.projects[hash]
		fmt.Fprintf(b, "%s    {\n      \"project_hash\": %s,\n      \"project_root\": %s,\n      \"last_message\": %d,\n      \"last_token\": %d,\n      \"last_handoff\": %d",
			sep, quote(hash), quote(p.root), p.messages, p.fence, p.handed)
		sep = ",\n"
		err := cmp.Or(
			list(b, "agents", slices.Values(slices.SortedFunc(maps.Values(p.agents), func(x, y *agent) int { return cmp.Compare(x.ID, y.ID) }))),
			list(b, "claims", slices.Values(slices.SortedFunc(maps.Values(p.leases), func(x, y *lease) int { return cmp.Compare(x.Path, y.Path) }))),
			list(b, "handoffs", slices.Values(slices.SortedFunc(maps.Values(p.handoffs), func(x, y *handoff) int { return cmp.Compare(x.Number, y.Number) }))),
			b.scratchpad(hash, p),
			list(b, "findings", slices.Values(p.findings)),
		)
		messages += p.size()
		if err != nil {
			return err
		}
		fmt.Fprint(b, "\n    }")
	}
	if _, err := io.WriteString(b, "\n  ]"); err != nil {
		return err
	}
	return b.close(messages)
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}

// list writes a member whose value is a list.
func list[T any](b io.Writer, name string, items iter.Seq[T]) error {
	fmt.Fprintf(b, ",\n      %q: [", name)
	sep, end := "\n        ", "]"
	for x := range items {
		line, err := json.Marshal(x)
		if err == nil {
			_, err = b.Write(append([]byte(sep), line...))
		}
		if err != nil {
			return err
		}
		sep, end = ",\n        ", "\n      ]"
	}
	_, err := io.WriteString(b, end)
	return err
}

// board yields every message that somebody may still be to see, by number.
func (p *project) board() iter.Seq[*slip] {
	lists := append(slices.Collect(maps.Values(p.direct)), slices.Collect(maps.Values(p.typed))...)
	all := slices.Concat(append(lists, p.broadcasts)...)
	slices.SortFunc(all, func(a, b slip) int { return cmp.Compare(a.number, b.number) })
	return func(yield func(*slip) bool) {
		for i := range all {
			if !yield(&all[i]) {
				return
			}
		}
	}
}

func (machine) Decode(data []byte) (*state, error) {
	var d document
	rest, boards := lift(data)
	if err := json.Unmarshal(rest, &d); err != nil {
		return nil, err
	}
	if len(boards) != len(d.Projects) {
		return nil, fmt.Errorf("%d projects have %d scratchpads", len(d.Projects), len(boards))
	}
	s := newState()
	return s, d.into(s, func(i int, p *project) error { return p.fill(boards[i]) })
}

// into puts what was read into a state; fill does so with the scratchpad of the
// i-th project.
func (d *document) into(s *state, fill func(i int, p *project) error) error {
	for i, x := range d.Projects {
		p := newProject(x.Root)
		s.projects[x.Hash] = p
		slices.SortStableFunc(x.Agents, func(a, b *agent) int { return a.Registered.Compare(b.Registered) })
		for _, a := range x.Agents {
			p.put(a)
			s.owners[a.ID] = x.Hash
		}
		for _, l := range x.Claims {
			p.leases[l.key()] = l
		}
		for _, h := range x.Handoffs {
			p.fileHandoff(h)
		}
		if err := fill(i, p); err != nil {
			return err
		}
		p.findings = x.Findings
		p.messages, p.fence, p.handed = x.Messages, x.Fence, x.Handed
		p.tidyAt = max(tidyFrom, 2*len(p.broadcasts))
	}
	return nil
}

// size is how many messages stand on the scratchpad.
func (p *project) size() int {
	n := len(p.broadcasts)
	for _, lists := range []map[string][]slip{p.direct, p.typed} {
		for _, l := range lists {
			n += len(l)
		}
	}
	return n
}
