package page

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/listing"
)

// outcome is what a button did: the sentence that the program answered.
type outcome struct {
	id   string
	at   time.Time
	Text string
	Kind string // done, warned or failed
	Undo bool   // it can be taken back
}

// Outcomes are kept in memory until the page that they belong to is loaded.
const (
	maxOutcomes = 200
	outcomeFor  = 5 * time.Minute
)

// keep keeps an outcome and gives its id, which nobody can guess: an address must not be
// able to put words on the page.
func (h *handler) keep(text, kind string, undo bool) (id string) {
	id = rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outcomes = append(h.outcomes, outcome{id, time.Now(), text, kind, undo})
	h.outcomes = slices.Clone(h.outcomes[max(0, len(h.outcomes)-maxOutcomes):])
	return id
}

// outcome is the one with an id, nil if there is none.
func (h *handler) outcome(id string) *outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.outcomes {
		if x.id == id && time.Since(x.at) < outcomeFor {
			return &x
		}
	}
	return nil
}

// button is an operation that a form calls.
type button struct {
	tool   string // [tool] unless it is given
	action string
	fields []string       // of the form, that become arguments
	fixed  map[string]any // arguments that the button stands for
	shown  bool           // asserts the value that the page showed
	guards bool           // does nothing if the values that the page showed are no longer those that are believed
	waits  bool           // accepts the changes that the page showed, and no others
}

var buttons = map[string]button{
	"confirm":  {action: "remember", shown: true},
	"pin":      {action: "remember", shown: true, fixed: map[string]any{"pinned": true}},
	"unpin":    {action: "remember", shown: true, fixed: map[string]any{"pinned": false}},
	"change":   {action: "remember", guards: true, fields: []string{"category", "key", "value", "correct", "valid_from", "also", "replaces"}},
	"add":      {action: "remember", fields: []string{"category", "key", "value"}},
	"remove":   {action: "remove", guards: true, fields: []string{"category", "key", "value", "reason", "valid_until"}},
	"judge":    {action: "judge", guards: true, fields: []string{"category", "key", "target", "verdict"}},
	"rename":   {action: "rename", fields: []string{"category", "key", "to", "merge"}},
	"undo":     {action: "undo"},
	"restore":  {action: "restore", fields: []string{"category", "key"}},
	"question": {action: "questions", fields: []string{"category", "key", "questions"}},
	"relate":   {action: "relate", fields: []string{"category", "key", "target", "kind"}},
	"unrelate": {action: "unrelate", fields: []string{"category", "key", "target", "kind"}},
	"take-in":  {tool: syncTool},
	"accept":   {tool: syncTool, waits: true, fixed: map[string]any{"yes": true}},
}

// maxForm is in bytes: a value has at most 64 KiB, and a form writes a byte as three.
const maxForm = 1 << 20

// do answers a button: it calls the operation and sends the browser back to the view,
// which shows the sentence that came of it.
func (h *handler) do(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	b, known := buttons[r.PathValue("action")]
	err := r.ParseForm()
	switch {
	case readOnly(r):
		http.Error(w, "This page may only be read.", http.StatusForbidden)
		return
	case !known:
		http.Error(w, "There is no such button.", http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, "The form cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	q := h.request(r)
	text, kind := q.press(b)
	back := r.PostForm.Get("back")
	u, err := url.Parse(back)
	if err != nil || !q.local(back) {
		u = &url.URL{Path: q.Prefix + "/"}
	}
	v := u.Query()
	v.Set("outcome", h.keep(text, kind, kind == "done" && b.action != "undo" && b.tool == ""))
	u.RawQuery, u.Fragment = v.Encode(), ""
	w.Header().Set("Location", u.String())
	w.WriteHeader(http.StatusSeeOther)
}

// press calls the operation and words what came of it.
func (q *request) press(b button) (text, kind string) {
	args, err := map[string]any{}, error(nil)
	maps.Copy(args, b.fixed)
	for _, name := range b.fields {
		if value := q.PostForm.Get(name); strings.TrimSpace(value) != "" {
			args[name] = strings.ReplaceAll(value, "\r\n", "\n")
		}
	}
	switch {
	case b.shown:
		err = q.shown(args)
	case b.waits:
		err = q.stillWaiting()
	case b.guards:
		err = q.stillBelieved()
	}
	if err == nil {
		var a op.Answer
		a, err = q.h.options.Call(asUser(q.Context()), cmp.Or(b.tool, tool), b.action, args)
		if err == nil && b.shown && q.PostForm.Get("settle") != "" {
			err = q.rejectDisputes(args)
		}
		if err == nil {
			text = strings.Join(append([]string{said(a)}, a.Notices...), "\n")
			if a.Warned() {
				return text, "warned"
			}
			return text, "done"
		}
	}
	f, _ := explain(err)
	return f.Title + ": " + f.Text, "failed"
}

// errWaiting tells that other changes wait than those that the page showed.
var errWaiting = errors.New("what waits has changed since the page was loaded; look at it again")

// errChanged tells that what the page showed is not what is there.
var errChanged = errors.New("the fact has changed since the page was loaded; look at it again")

// stillWaiting refuses to accept what the page did not show: a pull may have brought more meanwhile.
func (q *request) stillWaiting() error {
	now, err := q.waiting()
	if err == nil && waitingID(now) != q.PostForm.Get("id") {
		err = errWaiting
	}
	return err
}

// maxSeen is how many letters of a value are named that is no longer what the page showed.
const maxSeen = 120

// movedOnError is about a fact whose values are no longer those that the page showed.
type movedOnError struct {
	knowledge.Name
	seen, now string
}

func (e *movedOnError) Error() string {
	now := "it is “" + prose.Clip(e.now, maxSeen) + "” now"
	if e.now == "" {
		now = "it has no value now"
	}
	return fmt.Sprintf("nothing was changed: %s/%s has changed since the page was loaded. The page showed “%s”, and %s", brief(e.Category), brief(e.Key), prose.Clip(e.seen, maxSeen), now)
}

// stillBelieved refuses to change or to judge a fact whose values are others than the page showed. A form has
// them as "seen", one for each value, as [seenValue] writes it. A judged pair has those of the second fact too.
func (q *request) stillBelieved() error {
	facts := map[knowledge.Name][]string{{Category: q.PostForm.Get("category"), Key: q.PostForm.Get("key")}: q.PostForm["seen"]}
	if category, key, ok := strings.Cut(q.PostForm.Get("target"), "/"); ok {
		facts[knowledge.Name{Category: category, Key: key}] = q.PostForm["seen_target"]
	}
	for name, seen := range facts {
		if len(seen) == 0 {
			continue
		}
		values, err := q.believed(name)
		if err != nil {
			return err
		}
		var now, texts []string
		for _, f := range values {
			now, texts = append(now, seenValue(f.Value)), append(texts, brief(f.Value))
		}
		for _, s := range seen {
			if !slices.Contains(now, s) {
				_, text, _ := strings.Cut(s, " ")
				return &movedOnError{name, text, strings.Join(texts, "”, “")}
			}
		}
	}
	return nil
}

// believed are the values of a fact that are believed now.
func (q *request) believed(n knowledge.Name) ([]knowledge.Found, error) {
	r, err := call[knowledge.Recalled](q, tool, "recall", map[string]any{"category": n.Category, "key": n.Key, "limit": 100})
	return r.Facts, err
}

// seenValue stands in a form for a value that the page shows: its checksum, and its beginning for people.
func seenValue(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:8]) + " " + brief(value)
}

// rejectDisputes settles what is open against the value that a person has just confirmed.
func (q *request) rejectDisputes(confirmed map[string]any) error {
	all, err := call[listing.DisputeList](q, tool, "disputes", map[string]any{"state": formats.DisputeOpen, "limit": 1000})
	if err != nil {
		return err
	}
	for _, d := range all.Disputes {
		if d.Category == confirmed["category"] && d.Key == confirmed["key"] && d.Against == confirmed["value"] {
			if _, err := q.h.options.Call(asUser(q.Context()), tool, "judge", map[string]any{"category": d.Category, "key": d.Key, "target": d.ID, "verdict": "reject"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// said tells a person what a button of theirs did. Where values change it is one sentence for all kinds
// of change; else what the operation answers, without the calls that it suggests.
func said(a op.Answer) string {
	r, ok := a.Result.(knowledge.Remembered)
	if !ok || r.Outcome == knowledge.Confirmed || r.Outcome == knowledge.Disputed || r.Outcome == knowledge.Planned || r.Outcome == knowledge.Backdated {
		return a.RenderPlain()
	}
	now, before := "“"+brief(r.Value)+"”", ""
	if len(r.Values) > 0 {
		now = quoted(r.Values)
	}
	switch {
	case r.Outcome == knowledge.Corrected:
		before = "; the former value was never true"
	case r.Was == nil:
	case len(r.Was.All) > 0:
		before = "; before: " + quoted(r.Was.All)
	default:
		before = "; before: “" + brief(r.Was.Value) + "”, since " + day(r.Was.Since)
		if r.Was.AssertedBy != "" {
			before += " by " + brief(r.Was.AssertedBy)
		}
	}
	return "Believed now: " + now + before + "."
}

func quoted(values []string) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, "“"+brief(v)+"”")
	}
	return strings.Join(parts, ", ")
}

// shown adds the value that the page showed to the arguments, if it is still current.
func (q *request) shown(args map[string]any) error {
	values, err := q.believed(knowledge.Name{Category: q.PostForm.Get("category"), Key: q.PostForm.Get("key")})
	if err != nil {
		return err
	}
	for _, f := range values {
		if f.ID == q.PostForm.Get("id") {
			args["category"], args["key"], args["value"], args["confidence"] = f.Category, f.Key, f.Value, f.Confidence
			return nil
		}
	}
	return errChanged
}
