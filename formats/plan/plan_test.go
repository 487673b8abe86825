package plan

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shown(p *Plan) (out []string) {
	for i, x := range p.Items {
		var s strings.Builder
		fmt.Fprintf(&s, "%d: %s %q", i, x.Name, x.Title)
		if x.Phase {
			s.WriteString(" phase")
		}
		if x.Parent >= 0 {
			fmt.Fprintf(&s, " in %d", x.Parent)
		}
		if len(x.After) > 0 {
			fmt.Fprintf(&s, " after %v", x.After)
		}
		for _, more := range []string{x.ID, x.State, x.Description, strings.Join(x.References, ",")} {
			if more != "" {
				s.WriteString(" | " + more)
			}
		}
		out = append(out, s.String())
	}
	return out
}

const checklist = `# Move to NATS

Why: the queue loses messages.

## Background
Only text.

## Prepare
All of it on a branch.
- [x] Write the design
- [ ] Set up a server <!-- t-a3f8c1 Working claude-b7e2 -->
  with three nodes:

      nats-server -c a.conf
  - [ ] Firewall
## Switch
1. [ ] Switch the writers
* [ ] Switch the readers
` + "```\n- [ ] no item\n```\n" + `## Switch
- [ ] Again
`

func TestChecklist(t *testing.T) {
	p, err := Parse([]byte(checklist))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{
		`0: move-to-nats "Move to NATS" phase | Why: the queue loses messages.`,
		`1: move-to-nats/prepare "Prepare" phase in 0 | All of it on a branch.`,
		`2: move-to-nats/prepare/write-the-design "Write the design" in 1 | Completed`,
		"3: move-to-nats/prepare/set-up-a-server \"Set up a server\" in 1 | t-a3f8c1 | Working | with three nodes:\n\n    nats-server -c a.conf",
		`4: move-to-nats/prepare/set-up-a-server/firewall "Firewall" in 3`,
		`5: move-to-nats/switch "Switch" phase in 0 after [1]`,
		`6: move-to-nats/switch/switch-the-writers "Switch the writers" in 5`,
		"7: move-to-nats/switch/switch-the-readers \"Switch the readers\" in 5 | ```\n- [ ] no item\n```",
		`8: move-to-nats/switch-2 "Switch" phase in 0 after [5]`,
		`9: move-to-nats/switch-2/again "Again" in 8`,
	}, shown(p)); d != "" {
		t.Error(d)
	}
}

// What Write prints is the same plan when it is read.
func TestChecklistRoundTrip(t *testing.T) {
	p, err := Parse([]byte(checklist))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Items {
		p.Items[i].ID = fmt.Sprintf("t-%06x", i)
		if p.Items[i].State == "" {
			p.Items[i].Description += "\n- [ ] text that looks like an item\n```\na fence that nothing closes"
			p.Items[i].Description = strings.TrimSpace(p.Items[i].Description)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, p.Items); err != nil {
		t.Fatal(err)
	}
	again, err := Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(shown(p), shown(again)); d != "" {
		t.Errorf("%s\n%s", d, b.String())
	}
}

// The first line stands in the repository of beads itself.
const beadsText = `{"id":"bd-10","title":"Extend export","description":"Modify export.go","status":"closed","priority":1,"issue_type":"task","created_at":"2025-10-12T14:32:19.163526-07:00","updated_at":"2025-10-14T02:42:01.095691-07:00","closed_at":"2025-10-12T15:07:47.937992-07:00","dependencies":[{"issue_id":"bd-10","depends_on_id":"bd-9","type":"parent-child","created_at":"2025-10-12T14:35:59.213222-07:00","created_by":"ana"}]}
{"id":"bd-9","title":"Exports","issue_type":"epic","status":"open","labels":["a","b"]}

{"id":"bd-11","title":"Docs","issue_type":"task","status":"in_progress","assignee":"ana","design":"short","dependencies":[{"depends_on_id":"bd-10","type":"blocks"},{"depends_on_id":"bd-9","type":"related"},{"depends_on_id":"bd-1","type":"blocks"}]}
{"id":"bd-12","title":"Gone","issue_type":"task","status":"tombstone"}
`

func TestBeads(t *testing.T) {
	p, err := Parse([]byte(beadsText))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{
		`0: bd-9 "Exports" phase`,
		`1: bd-10 "Extend export" in 0 | Completed | Modify export.go`,
		`2: bd-11 "Docs" after [1] | Working | Design: short | related bd-9`,
	}, shown(p)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{"labels": 2, "comments": 0, "priorities": 1, "deleted issues": 1, "links to issues that are not there": 1}, p.LeftOut); d != "" {
		t.Error(d)
	}
}

func TestBadPlans(t *testing.T) {
	for text, want := range map[string]string{
		"":                              ErrNone.Error(),
		"# Only text\n\nmore\n- item":   ErrNone.Error(),
		"- [ ] a\n- [ ] <!-- t-abc -->": "line 2: an item without text",
		`{"id":"a"}`:                    "line 1: an issue has an id",
		"{\n":                           "line 1: ",
		`{"id":"a","title":"t","issue_type":"task"}` + "\n" + `{"id":"a","title":"t","issue_type":"task"}`: "line 2: a appears twice",
		"- [ ] " + strings.Repeat("x", 2<<20): "line 1: ",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := Parse(nil); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(checklist)
	f.Add(beadsText)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse([]byte(text))
		if err != nil {
			return
		}
		names := map[string]bool{}
		for i, x := range p.Items {
			if x.Parent >= i || x.Title == "" || names[x.Name] && p.Program == "" {
				t.Errorf("item %d: %+v", i, x)
			}
			names[x.Name] = true
		}
	})
}

// Issues that are parts of themselves stand at the top, each circle once.
func TestBeadsInACircle(t *testing.T) {
	line := `{"id":"%s","title":"t","issue_type":"task","dependencies":[{"depends_on_id":"%s","type":"parent-child"}]}` + "\n"
	p, err := Parse(fmt.Appendf(nil, line+line+line+line, "a", "a", "b", "c", "c", "d", "d", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"line 1: a would be a part of itself: it stands at the top", "line 4: d would be a part of itself: it stands at the top"}, p.Problems); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{`0: a "t"`, `1: d "t"`, `2: c "t" in 1`, `3: b "t" in 2`}, shown(p)); d != "" {
		t.Error(d)
	}
}

// A fence in an item's text ends with the item, as in Markdown.
func TestFenceEndsWithItsItem(t *testing.T) {
	p, err := Parse([]byte("# A\n- [ ] one\n  ```\n  - [ ] code\n\n  # code\n- [ ] two\n  ~~~\n  code\n# B\n- [ ] three\n```\n- [ ] code\n```\n- [ ] four\n"))
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, x := range p.Items {
		titles = append(titles, x.Title)
	}
	if d := cmp.Diff([]string{"A", "one", "two", "B", "three", "four"}, titles); d != "" {
		t.Error(d)
	}
}

// Items of one title are numbered in a time that grows with their number alone.
func TestManyItemsOfOneTitle(t *testing.T) {
	p, err := Parse([]byte(strings.Repeat("- [ ] x\n", 20_000)))
	if err != nil || p.Items[19_999].Name != "x-20000" {
		t.Fatal(err)
	}
}
