package diary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/lines"
)

// Owner says whose diary a file is.
type Owner struct {
	AgentID   string `json:"agent_id"`
	AgentType string `json:"agent_type"`
	Project   string `json:"project_hash"`
	Root      string `json:"project_root"`
}

// diary is one agent's.
type diary struct {
	owner   Owner
	entries []Entry // the oldest first; never changed
}

// event is an entry, with the owner in a diary's first commit.
type event struct {
	Owner *Owner `json:"owner,omitempty"`
	Entry *Entry `json:"entry,omitempty"`
}

type machine struct{}

func (machine) New() *diary { return &diary{} }

func (machine) Fold(d *diary, c journal.Commit[event]) *diary {
	for _, e := range c.Events {
		if e.Owner != nil {
			d.owner = *e.Owner
		}
		if e.Entry != nil {
			d.entries = append(d.entries, *e.Entry)
		}
	}
	return d
}

func (machine) Clone(d *diary) *diary { return new(*d) }

func (machine) Encode(w io.Writer, d *diary, h journal.Header) error {
	b := bufio.NewWriter(w)
	o := d.owner
	fmt.Fprintf(b, "{\n  \"schema\": %d,\n  \"agent_id\": %s,\n  \"agent_type\": %s,\n  \"project_hash\": %s,\n  \"project_root\": %s,\n",
		h.Schema, lines.Value(o.AgentID), lines.Value(o.AgentType), lines.Value(o.Project), lines.Value(o.Root))
	fmt.Fprintf(b, "  \"updated_at\": %q,\n  \"checksum\": %q,\n  \"seq\": %d,\n  \"generation\": %d",
		h.At.UTC().Format(time.RFC3339Nano), h.Checksum, h.Seq, h.Generation)
	if err := lines.List(b, "entries", slices.Values(d.entries)); err != nil {
		return err
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

func (machine) Decode(data []byte) (*diary, error) {
	var d struct {
		Owner
		Entries []Entry `json:"entries"`
	}
	err := json.Unmarshal(data, &d)
	return &diary{d.Owner, d.Entries}, err
}

var _ journal.Machine[*diary, event] = machine{}
