package page

import (
	"cmp"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
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
	waits  bool           // accepts the changes that the page showed, and no others
}

var buttons = map[string]button{
	"confirm":  {action: "remember", shown: true},
	"pin":      {action: "remember", shown: true, fixed: map[string]any{"pinned": true}},
	"unpin":    {action: "remember", shown: true, fixed: map[string]any{"pinned": false}},
	"change":   {action: "remember", fields: []string{"category", "key", "value", "correct", "valid_from", "also", "replaces"}},
	"add":      {action: "remember", fields: []string{"category", "key", "value"}},
	"remove":   {action: "remove", fields: []string{"category", "key", "value", "reason", "valid_until"}},
	"judge":    {action: "judge", fields: []string{"category", "key", "target", "verdict"}},
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
	}
	if err == nil {
		var a op.Answer
		a, err = q.h.o.Call(asUser(q.Context()), cmp.Or(b.tool, tool), b.action, args)
		if err == nil {
			text, err = a.Render()
		}
		if err == nil {
			text = strings.Join(append([]string{text}, a.Notices...), "\n")
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

// shown adds the value that the page showed to the arguments, if it is still current.
func (q *request) shown(args map[string]any) error {
	form := q.PostForm
	r, err := call[knowledge.Recalled](q, tool, "recall", map[string]any{"category": form.Get("category"), "key": form.Get("key"), "limit": 100})
	if err != nil {
		return err
	}
	for _, f := range r.Facts {
		if f.ID == form.Get("id") {
			args["category"], args["key"], args["value"], args["confidence"] = f.Category, f.Key, f.Value, f.Confidence
			return nil
		}
	}
	return errChanged
}
