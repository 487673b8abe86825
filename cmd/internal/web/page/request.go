package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
	"leanctx/knowledge/listing"
)

// request is one request for a view or a button.
type request struct {
	*http.Request
	links
	h      *handler
	asOf   time.Time // the instant that the page is about; zero: now
	status listing.StoreStatus
}

func (h *handler) request(r *http.Request) *request {
	return &request{Request: r, h: h, links: links{Prefix: h.options.Prefix, url: r.URL}}
}

// asUser has operations called in the name of the user, as a button of the page is.
func asUser(ctx context.Context) context.Context {
	return op.WithCaller(ctx, op.Caller{Kind: "user", Session: "page"})
}

// call runs an operation and gives its result as its JSON has it.
func call[T any](q *request, tool, action string, args map[string]any) (result T, err error) {
	a, err := q.h.options.Call(asUser(q.Context()), tool, action, args)
	if err != nil {
		return result, err
	}
	text, err := a.JSON()
	if err == nil {
		err = json.Unmarshal([]byte(text), &result)
	}
	return result, err
}

// missingError is about an address without a page.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }

// movedError is about an address whose page has another one now.
type movedError struct{ to template.URL }

func (e *movedError) Error() string { return "moved to " + string(e.to) }

// read takes from the address what all views have in common.
func (q *request) read() (err error) {
	if q.status, err = call[listing.StoreStatus](q, "knowledge", "status", nil); err != nil {
		return err
	}
	given := strings.TrimSpace(q.URL.Query().Get("as_of"))
	if given == "" || given == day(time.Now()) {
		return nil
	}
	// The end of a day, as the operations take it.
	if t, err := time.Parse(time.DateOnly, given); err == nil {
		q.asOf = t.Add(24*time.Hour - 1)
	} else if q.asOf, err = time.Parse(time.RFC3339, given); err != nil {
		return &dateError{given}
	}
	q.AsOf = given
	return nil
}

// dateError is about a date that is none.
type dateError struct{ text string }

func (e *dateError) Error() string {
	return fmt.Sprintf("%q is no date. Give a day such as 2026-02-01.", brief(e.text))
}

// at adds the instant to arguments.
func (q *request) at(args map[string]any) map[string]any {
	if q.AsOf != "" {
		args["as_of"] = q.AsOf
	}
	return args
}

// query is what is searched for.
func (q *request) query() string { return strings.TrimSpace(q.URL.Query().Get("q")) }

// frame is what the layout shows around a view.
type frame struct {
	links
	Project  string
	View     string
	Data     any
	Query    string
	Events   string // the address of the feed, nothing for a page about the past
	Then     string // the instant in words
	Slider   slider
	Doubts   int    // open disputes
	Brings   string // what the repository holds and nobody took in, in a sentence
	Outcome  *outcome
	ReadOnly bool
	Syncs    bool // what the repository brings can be taken in here
}

// slider is what the slider of days shows, in days since 1970.
type slider struct {
	First, Last, At int64
	Today           string
}

func (q *request) frame(template string, data any) frame {
	now := time.Now()
	f := frame{
		links: q.links, Project: q.h.options.Project, View: strings.TrimSuffix(template, ".html"), Data: data, Query: q.query(),
		Events: q.Prefix + "/events", Doubts: q.status.Disputes, Outcome: q.h.outcome(q.URL.Query().Get("outcome")), ReadOnly: readOnly(q.Request),
		Brings: q.status.Brings, Syncs: syncs(q.Request),
	}
	last := now.Unix() / 86400
	f.Slider = slider{last - 1, last, last, day(now)}
	if since := q.status.Since; !since.IsZero() {
		f.Slider.First = min(since.Unix()/86400, last-1)
	}
	if !q.asOf.IsZero() {
		f.Events, f.Slider.At = "", q.asOf.Unix()/86400
		f.Then = q.asOf.UTC().Format("Monday, 2 January 2006")
	}
	if len(q.AsOf) > len(time.DateOnly) {
		f.Then = q.asOf.UTC().Format("2 January 2006, 15:04 UTC")
	}
	return f
}

// readOnly reports whether a request may only look.
func readOnly(r *http.Request) bool {
	g := op.GrantOf(r.Context())
	return g != nil && g.ReadOnly
}

// syncs reports whether a request may share facts through the repository, whose memory is files of
// this machine.
func syncs(r *http.Request) bool {
	g := op.GrantOf(r.Context())
	return g == nil || !g.ReadOnly && !g.NoFiles
}

// pager is where in a list the page is. Pages count from 1.
type pager struct {
	Number, Pages int
	From, To      int
	Total         int
}

// maxRows is how many rows a page of a list has.
const maxRows = 100

// pageNumber is the page that an address asks for.
func pageNumber(u *url.URL) int {
	n, err := strconv.Atoi(u.Query().Get("page"))
	if err != nil {
		return 1
	}
	return min(max(n, 1), 1_000_000)
}

func newPager(page, rows, total int) pager {
	from := (page - 1) * maxRows
	return pager{page, (total + maxRows - 1) / maxRows, from + 1, from + rows, total}
}

// failure is what the page says when there is nothing to show.
type failure struct {
	Title, Text string
	Dated       bool // the address has a date
}

// explain words an error for people and gives the status of the answer.
func explain(err error) (failure, int) {
	if m, ok := errors.AsType[*missingError](err); ok {
		return failure{Title: "Not found", Text: m.text}, http.StatusNotFound
	}
	if d, ok := errors.AsType[*dateError](err); ok {
		return failure{"No date", d.Error(), true}, http.StatusBadRequest
	}
	c := classes[op.Classify(err)]
	return failure{Title: c.title, Text: op.PlainError(err) + c.advice}, c.status
}

// classes are what the page says of the classes of errors.
var classes = map[op.Class]struct {
	title, advice string
	status        int
}{
	op.Failed: {"That failed", "", http.StatusInternalServerError}, op.Interrupted: {"That failed", "", http.StatusInternalServerError},
	op.Usage: {"Not possible", "", http.StatusBadRequest}, op.Conflict: {"Not possible", "", http.StatusConflict}, op.NotFound: {"Not found", "", http.StatusNotFound},
	op.Forbidden:  {"Not allowed", "", http.StatusForbidden},
	op.Locked:     {"Locked", ". Load the page again in a moment.", http.StatusServiceUnavailable},
	op.Unreadable: {"The store cannot be read", ". lean-ctx doctor says what to do.", http.StatusInternalServerError},
}

// Before and After are the pages beside this one, 0 where there is none.
func (p pager) Before() int { return p.Number - 1 }

// After is the next page.
func (p pager) After() int {
	if p.Number < p.Pages {
		return p.Number + 1
	}
	return 0
}

// side is one of two facts that may be the same, or may not both hold.
type side struct {
	Same bool
	knowledge.Name
	Value, Other, OtherValue string
	Address, Judge, Rename   template.URL
	From                     knowledge.Name // the other
	Back                     string
	ReadOnly                 bool
	Seen, SeenTarget         string // see [seenValue]
}

// Side is one of two facts, seen beside the other.
func (f frame) Side(same bool, n knowledge.Name, value string, other knowledge.Name, otherValue string) side {
	return side{
		Same: same, Name: n, Value: value, From: other, Other: other.Category + "/" + other.Key, OtherValue: otherValue,
		Address: f.Fact(n.Category, n.Key), Judge: f.Action("judge"), Rename: f.Action("rename"), Back: f.Back(), ReadOnly: f.ReadOnly,
		Seen: seenValue(value), SeenTarget: seenValue(otherValue),
	}
}
