package share

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/prose"
)

// Request asks for what was shared with the caller.
type Request struct {
	Content bool `json:"content,omitempty" jsonschema:"give the files' contents, not only their names"`
}

// Received is what others shared with the caller and it did not have yet.
type Received struct {
	Shares []Share `json:"shares"`
}

// Share is one push, as its receiver sees it.
type Share struct {
	ID      string    `json:"id"`
	From    string    `json:"from"`
	To      string    `json:"to,omitempty"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at"`
	Files   []File    `json:"files"`
	Pulled  []string  `json:"pulled,omitempty"` // in a list: who had it
}

func (x *shared) share() Share {
	out := Share{ID: x.ID, From: x.From, To: x.To, Message: x.Message, At: x.At}
	for _, f := range x.Files {
		out.Files = append(out.Files, f.file())
	}
	return out
}

// Pull gives the caller what was shared with it, once: the names, and with
// Content the contents, which may be asked for after the names.
func (s *Store) Pull(ctx context.Context, r Request) (Received, error) {
	me, err := s.self(ctx)
	if err != nil {
		return Received{}, err
	}
	waiting, err := s.waiting(ctx, me, r.Content)
	if err != nil || len(waiting) == 0 {
		return Received{Shares: []Share{}}, err
	}
	ready := make(map[string]Share, len(waiting))
	for _, x := range waiting {
		ready[x.ID] = s.look(x, r.Content) // before the commit: what cannot be shown must not count as had
	}
	var got []string
	_, err = s.log.Update(ctx, func(st *state, _ time.Time) ([]event, error) {
		got = nil
		for _, x := range st.waiting(me, r.Content) {
			if _, ok := ready[x.ID]; ok {
				got = append(got, x.ID)
			}
		}
		if len(got) == 0 {
			return nil, nil
		}
		return []event{{Pull: &pulled{By: me, IDs: got, Contents: r.Content}}}, nil
	})
	if err != nil {
		return Received{}, err
	}
	out := Received{Shares: []Share{}}
	for _, id := range got {
		out.Shares = append(out.Shares, ready[id])
	}
	return out, nil
}

func (s *Store) waiting(ctx context.Context, me string, content bool) (list []*shared, err error) {
	err = s.log.View(ctx, func(st *state, _ journal.Head) error {
		list = st.waiting(me, content)
		return nil
	})
	return list, err
}

// Waiting counts the shares that an agent would be given by its next pull.
func (s *Store) Waiting(ctx context.Context, agent string) (int, error) {
	list, err := s.waiting(ctx, agent, false)
	return len(list), err
}

// look is a share with what became of its files, and their contents.
func (s *Store) look(x *shared, content bool) Share {
	out := x.share()
	root, err := s.project()
	if err == nil {
		defer root.Close()
	}
	for i, f := range x.Files {
		y := &out.Files[i]
		if y.State = stateUnreadable; err == nil {
			y.State = compare(root, f)
		}
		if !content {
			continue
		}
		if text, ok := s.contents(x.ID, f); ok {
			y.Content = &text
		} else {
			y.State = stateDamaged
		}
	}
	return out
}

// Text gives the answer's lines.
func (r Received) Text() string {
	if len(r.Shares) == 0 {
		return "No shared contexts."
	}
	var senders []string
	from := map[string][]Share{}
	for _, x := range r.Shares {
		if from[x.From] == nil {
			senders = append(senders, x.From)
		}
		from[x.From] = append(from[x.From], x)
	}
	var b strings.Builder
	for i, sender := range senders {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s from %s:", prose.Count(len(from[sender]), "shared context"), sender)
		for _, x := range from[sender] {
			x.write(&b)
		}
	}
	return b.String()
}

func (x Share) write(b *strings.Builder) {
	names := make([]string, len(x.Files))
	for i, f := range x.Files {
		names[i] = fmt.Sprintf("%s (%s tok)", f.Path, prose.Number(f.Tokens))
		if f.State != "" {
			names[i] += " [" + f.State + "]"
		}
	}
	b.WriteString("\n  " + strings.Join(names, " + "))
	if x.Message != "" {
		b.WriteString("\n  Message: " + strconv.Quote(x.Message))
	}
	for _, f := range x.Files {
		if f.Content != nil {
			bar := fence(*f.Content)
			fmt.Fprintf(b, "\n\n%s %s\n%s\n%s", bar, f.Path, strings.TrimSuffix(*f.Content, "\n"), bar)
		}
	}
}

// fence is a run of backticks longer than any in a text.
func fence(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// Listing asks for all shares; it has no arguments.
type Listing struct{}

// List is every share of the project.
type List struct {
	Shares []Share `json:"shares"`
	now    time.Time
}

// List gives every share of the project, the oldest first, and takes none.
func (s *Store) List(ctx context.Context, _ Listing) (List, error) {
	l := List{Shares: []Share{}, now: s.opts.Now()}
	err := s.log.View(ctx, func(st *state, _ journal.Head) error {
		for _, x := range st.sorted() {
			y := x.share()
			y.Message = "" // it is its receivers' alone
			y.Pulled = slices.Clone(x.Seen)
			l.Shares = append(l.Shares, y)
		}
		return nil
	})
	return l, err
}

// Text gives the answer's lines.
func (l List) Text() string {
	if len(l.Shares) == 0 {
		return "No shared contexts."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Shared contexts (%s):", prose.Number(len(l.Shares)))
	for _, x := range l.Shares {
		to, tokens := x.To, 0
		if to == "" {
			to = "all agents"
		}
		for _, f := range x.Files {
			tokens += f.Tokens
		}
		fmt.Fprintf(&b, "\n  %s → %s: %s (%s, %s, %s)", x.From, to, brief(x.Files), prose.Count(len(x.Files), "file"), prose.Count(tokens, "token"), prose.Ago(l.now, x.At))
		if len(x.Pulled) > 0 {
			b.WriteString(" [pulled by " + strings.Join(x.Pulled, ", ") + "]")
		}
	}
	return b.String()
}

// Paths lists the files that an agent has shared and not cleared, each once,
// the newest first.
func (s *Store) Paths(ctx context.Context, agent string) (paths []string, err error) {
	err = s.log.View(ctx, func(st *state, _ journal.Head) error {
		for _, x := range slices.Backward(st.sorted()) {
			for _, f := range x.Files {
				if x.From == agent {
					paths = with(paths, f.Path)
				}
			}
		}
		return nil
	})
	return paths, err
}

// brief names the first files.
func brief(files []File) string {
	const most = 3
	var names []string
	for _, f := range files[:min(len(files), most)] {
		names = append(names, f.Path)
	}
	if len(files) > most {
		names = append(names, fmt.Sprintf("… %d more", len(files)-most))
	}
	return strings.Join(names, ", ")
}
