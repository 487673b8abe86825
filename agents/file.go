package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"leanctx/agents/handoff"
	"leanctx/agents/lease"
	"leanctx/agents/scratchpad"
	"leanctx/internal/journal"
	"leanctx/internal/lines"
)

// document is the registry's file.
type document struct {
	Projects []section `json:"projects"`
}

// section is one project's part of it, but for the scratchpad (what somebody
// is still to see), which is lifted out before the rest is decoded.
type section struct {
	Hash     string                `json:"project_hash"`
	Root     string                `json:"project_root"`
	Messages uint64                `json:"last_message"`
	Fence    uint64                `json:"last_token"`
	Handed   uint64                `json:"last_handoff"`
	Agents   []*agent              `json:"agents"`
	Claims   []*lease.Lease        `json:"claims"`
	Handoffs []*handoff.Handoff    `json:"handoffs"`
	Findings []*scratchpad.Message `json:"findings"` // what everybody has seen and consolidation may want
}

// Encode writes one record a line, so that the file can be read and compared.
func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	b := scratchpad.NewSheet(w)
	fmt.Fprintf(b, "{\n  \"schema\": %d,\n  \"updated_at\": %q,\n  \"checksum\": %q,\n  \"seq\": %d,\n  \"generation\": %d,\n  \"projects\": [",
		h.Schema, h.At.UTC().Format(time.RFC3339Nano), h.Checksum, h.Seq, h.Generation)
	sep := "\n"
	for _, hash := range slices.Sorted(maps.Keys(s.projects)) {
		p := s.projects[hash]
		fmt.Fprintf(b, "%s    {\n      \"project_hash\": %s,\n      \"project_root\": %s,\n      \"last_message\": %d,\n      \"last_token\": %d,\n      \"last_handoff\": %d",
			sep, lines.Value(hash), lines.Value(p.root), p.pad.Last(), p.fence, p.handed)
		sep = ",\n"
		err := cmp.Or(
			lines.List(b, "agents", slices.Values(slices.SortedFunc(maps.Values(p.agents), func(x, y *agent) int { return cmp.Compare(x.ID, y.ID) }))),
			lines.List(b, "claims", slices.Values(slices.SortedFunc(maps.Values(p.leases), func(x, y *lease.Lease) int { return cmp.Compare(x.Path, y.Path) }))),
			lines.List(b, "handoffs", slices.Values(slices.SortedFunc(maps.Values(p.handoffs), func(x, y *handoff.Handoff) int { return cmp.Compare(x.Number, y.Number) }))),
			b.Pad(hash, p.pad),
			lines.List(b, "findings", slices.Values(p.pad.Findings())),
		)
		if err != nil {
			return err
		}
		fmt.Fprint(b, "\n    }")
	}
	if _, err := io.WriteString(b, "\n  ]"); err != nil {
		return err
	}
	return b.Close()
}

func (machine) Decode(data []byte) (*state, error) {
	src, rest := scratchpad.Split(data)
	return decoded(src, rest)
}

// decoded is the state of a file: rest is the file without the scratchpads,
// which stand in src.
func decoded(src *scratchpad.Source, rest []byte) (*state, error) {
	var d document
	if err := json.Unmarshal(rest, &d); err != nil {
		return nil, err
	}
	if src.Len() != len(d.Projects) {
		return nil, fmt.Errorf("%d projects have %d scratchpads", len(d.Projects), src.Len())
	}
	s := newState()
	for i := range d.Projects {
		x := &d.Projects[i]
		pad, err := src.Fill(i, x.Hash)
		if err != nil {
			return nil, err
		}
		pad.Resume(x.Messages, x.Findings)
		s.projects[x.Hash] = x.project(pad)
		for _, a := range x.Agents {
			s.owners[a.ID] = x.Hash
		}
	}
	return s, nil
}

func (x *section) project(pad *scratchpad.Pad) *project {
	p := newProject(x.Root)
	slices.SortStableFunc(x.Agents, func(a, b *agent) int { return a.Registered.Compare(b.Registered) })
	for _, a := range x.Agents {
		p.put(a)
	}
	for _, l := range x.Claims {
		p.leases.Put(l)
	}
	for _, h := range x.Handoffs {
		p.fileHandoff(h)
	}
	p.pad, p.fence, p.handed = pad, x.Fence, x.Handed
	return p
}
