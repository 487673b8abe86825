package advice

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Checked tells which current facts name a file that is no longer what it was.
type Checked struct {
	Facts   int           `json:"facts"` // current facts that name files, dormant ones too
	Changed []WrongSource `json:"changed"`
}

// WrongSource is a fact whose source no longer matches.
type WrongSource struct {
	ID       string   `json:"id"` // of the version
	Category string   `json:"category"`
	Key      string   `json:"key"`
	Value    string   `json:"value"`
	Files    []string `json:"files"` // as the newest source names them
	State    string   `json:"source_state"`
	fact.Trust
}

// Check compares the files that sources name with what they were.
func Check(ctx context.Context, s *knowledge.Store, _ knowledge.NoArgs) (r Checked, err error) {
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		r = checkSources(ctx, s, st, now)
		return ctx.Err()
	})
	return r, err
}

func checkSources(ctx context.Context, s *knowledge.Store, st *state.State, now time.Time) Checked {
	r := Checked{Changed: []WrongSource{}}
	for _, vs := range st.Sorted() {
		v := fact.Current(vs, now)
		if v == nil || len(fact.Files(v)) == 0 {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		r.Facts++
		mark := s.SourceState(v, now)
		if mark == "" {
			continue
		}
		x := WrongSource{v.ID, v.Category, v.Key, v.Value, nil, mark, fact.TrustIn(v)}
		for _, f := range fact.Files(v) {
			x.Files = append(x.Files, f.Ref)
		}
		r.Changed = append(r.Changed, x)
	}
	return r
}

// Found reports whether a source no longer matches.
func (r Checked) Found() bool { return len(r.Changed) > 0 }

// maxCheck is how many facts an answer lists; the JSON has all.
const maxCheck = 100

// Text gives the answer's lines.
func (r Checked) Text() string {
	if len(r.Changed) == 0 {
		return fmt.Sprintf("Sources: %s checked, all match.", prose.Count(r.Facts, "fact"))
	}
	return fmt.Sprintf("Sources: %s checked, %d no longer match:", prose.Count(r.Facts, "fact"), len(r.Changed)) + r.lines(maxCheck)
}

func (r Checked) lines(most int) string {
	var b strings.Builder
	for _, x := range r.Changed[:min(most, len(r.Changed))] {
		fmt.Fprintf(&b, "\n  [%s/%s] %s (%s) [source %s]", prose.Name(x.Category), prose.Name(x.Key), x.Brief(x.Value), prose.Line(strings.Join(x.Files, ", ")), x.State)
	}
	if more := len(r.Changed) - most; more > 0 {
		fmt.Fprintf(&b, "\n  … %d more (output=json shows all)", more)
	}
	return b.String()
}
