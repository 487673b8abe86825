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

// request is one request for a view.
type request struct {
	*http.Request
	h *handler

	asOf    time.Time // the instant that the page is about; zero: now
	asOfDay string    // as it was given
	status  listing.StoreStatus
}

// asUser has operations called in the name of the user, as a button of the page is.
func asUser(ctx context.Context) context.Context {
	return op.WithCaller(ctx, op.Caller{Kind: "user", Session: "page"})
}

// call runs an operation and gives its result as its JSON has it.
func call[T any](q *request, tool, action string, args map[string]any) (result T, err error) {
	a, err := q.h.o.Call(asUser(q.Context()), tool, action, args)
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

// read takes from the address what all views have in common.
func (q *request) read() (err error) {
	if q.status, err = call[listing.StoreStatus](q, "knowledge", "status", nil); err != nil {
		return err
	}
	q.asOfDay = strings.TrimSpace(q.URL.Query().Get("as_of"))
	if q.asOfDay == "" || q.asOfDay == day(time.Now()) {
		q.asOfDay = ""
		return nil
	}
	// The end of a day, as the operations take it.
	t, err := time.Parse(time.DateOnly, q.asOfDay)
	if err == nil {
		q.asOf = t.Add(24*time.Hour - 1)
		return nil
	}
	if q.asOf, err = time.Parse(time.RFC3339, q.asOfDay); err != nil {
		err = &dateError{q.asOfDay}
		q.asOfDay = ""
	}
	return err
}

// dateError is about a date that is none.
type dateError struct{ given string }

func (e *dateError) Error() string {
	return fmt.Sprintf("%q is no date. Give a day such as 2026-02-01.", brief(e.given))
}

// at adds the instant to arguments.
func (q *request) at(args map[string]any) map[string]any {
	if q.asOfDay != "" {
		args["as_of"] = q.asOfDay
	}
	return args
}

// frame is what the layout shows around a view.
type frame struct {
	*request
	View     string
	Data     any
	Said     *said
	ReadOnly bool
}

func (q *request) frame(name string, data any) frame {
	return frame{request: q, View: strings.TrimSuffix(name, ".html"), Data: data, Said: q.h.recall(q.URL.Query().Get("said")), ReadOnly: readOnly(q.Request)}
}

// readOnly reports whether a request may only look.
func readOnly(r *http.Request) bool {
	g := op.GrantOf(r.Context())
	return g != nil && g.ReadOnly
}

// Prefix is what addresses begin with.
func (q *request) Prefix() string { return q.h.o.Prefix }

// Project is the project's name.
func (q *request) Project() string { return q.h.o.Project }

// Events is the address of the feed, nothing for a page about the past.
func (q *request) Events() string {
	if !q.asOf.IsZero() {
		return ""
	}
	return q.h.o.Prefix + "/events"
}

// Query is what is searched for.
func (q *request) Query() string { return strings.TrimSpace(q.URL.Query().Get("q")) }

// AsOf is the day that the page is about, nothing for now.
func (q *request) AsOf() string { return q.asOfDay }

// Then is that instant in words.
func (q *request) Then() string {
	if len(q.asOfDay) > len(time.DateOnly) {
		return q.asOf.UTC().Format("2 January 2006, 15:04 UTC")
	}
	return q.asOf.UTC().Format("Monday, 2 January 2006")
}

// Doubts is how many disputes are open.
func (q *request) Doubts() int { return q.status.Disputes }

// First and Last are the ends of the slider, days since 1970; At is where it stands.
func (q *request) First() int64 {
	if q.status.Since.IsZero() {
		return q.Last() - 1
	}
	return min(q.status.Since.Unix()/86400, q.Last()-1)
}

// Last is today.
func (q *request) Last() int64 { return time.Now().Unix() / 86400 }

// At is the day that the page is about.
func (q *request) At() int64 {
	if q.asOf.IsZero() {
		return q.Last()
	}
	return q.asOf.Unix() / 86400
}

// Today is the last day of the slider as a date.
func (q *request) Today() string { return day(time.Now()) }

// Path is the address of the open view without a query.
func (q *request) Path() template.URL { return template.URL(q.h.o.Prefix + q.URL.EscapedPath()) }

// Here is the address of the open view, with names and values of its query in turn that
// are to be other ones. An empty value takes a name out; an answer to a button is shown once.
func (q *request) Here(pairs ...string) template.URL {
	v := q.URL.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if v.Del(pairs[i]); pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	v.Del("said")
	return template.URL(q.h.o.Prefix + joined(q.URL.EscapedPath(), v))
}

// Back is the address for a form that comes back to the open view.
func (q *request) Back() string { return string(q.Here("look", "")) }

// Now is the open view without its instant.
func (q *request) Now() template.URL { return q.Here("as_of", "") }

// Page is the open view at another page of its list.
func (q *request) Page(n int) template.URL { return q.Here("page", strconv.Itoa(n)) }

func joined(path string, v url.Values) string {
	if text := v.Encode(); text != "" {
		return path + "?" + text
	}
	return path
}

// Link is the address of a view at the same instant, with names and values of its query
// in turn. Empty values are left out.
func (q *request) Link(path string, pairs ...string) template.URL {
	v := url.Values{}
	if q.asOfDay != "" {
		v.Set("as_of", q.asOfDay)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return template.URL(q.h.o.Prefix + joined(path, v))
}

// Action is the address of a button.
func (q *request) Action(name string) template.URL { return template.URL(q.h.o.Prefix + "/do/" + name) }

// Fact is the address of a fact. A name that a browser would take for a step up in the
// path stands in the query.
func (q *request) Fact(category, key string) template.URL {
	if dots(category) || dots(key) {
		return q.Link("/facts/", "category", category, "key", key)
	}
	return q.Link("/facts/" + url.PathEscape(category) + "/" + url.PathEscape(key))
}

func dots(s string) bool { return s == "." || s == ".." || s == "" }

// FactOf is the address of a fact that is named category/key.
func (q *request) FactOf(name string) template.URL {
	category, key, _ := strings.Cut(name, "/")
	return q.Fact(category, key)
}

// pager is where in a list the page is. Pages count from 1.
type pager struct {
	Number, Pages int
	From, To      int
	Total         int
}

// rowsMost is how many rows a page of a list has.
const rowsMost = 100

func (q *request) page() int {
	n, err := strconv.Atoi(q.URL.Query().Get("page"))
	if err != nil {
		return 1
	}
	return min(max(n, 1), 1_000_000)
}

func newPager(page, rows, total int) pager {
	from := (page - 1) * rowsMost
	return pager{page, (total + rowsMost - 1) / rowsMost, from + 1, from + rows, total}
}

// failure is what the page says when there is nothing to show.
type failure struct {
	Title, Text string
}

// explain words an error for people and gives the status of the answer.
func explain(err error) (failure, int) {
	if m, ok := errors.AsType[*missingError](err); ok {
		return failure{"Not found", m.text}, http.StatusNotFound
	}
	if d, ok := errors.AsType[*dateError](err); ok {
		return failure{"No date", d.Error()}, http.StatusBadRequest
	}
	switch op.Classify(err) {
	case op.NotFound:
		return failure{"Not found", err.Error()}, http.StatusNotFound
	case op.Usage:
		return failure{"Not possible", err.Error()}, http.StatusBadRequest
	case op.Forbidden:
		return failure{"Not allowed", err.Error()}, http.StatusForbidden
	case op.Locked:
		return failure{"Locked", err.Error() + ". Load the page again in a moment."}, http.StatusServiceUnavailable
	case op.Unreadable:
		return failure{"The store cannot be read", err.Error() + ". lean-ctx doctor says what to do."}, http.StatusInternalServerError
	}
	return failure{"That failed", err.Error()}, http.StatusInternalServerError
}

// row is a fact in a list.
type row struct {
	knowledge.Found
	Address template.URL
	Room    bool // its room is named
	Here    bool // it is the one that is shown
}

// Row is a fact in the list of a view.
func (f frame) Row(x knowledge.Found) row {
	list, _ := f.Data.(interface{ room() string })
	open, _ := f.Data.(*factPage)
	return row{x, f.Fact(x.Category, x.Key), list == nil || list.room() == "", open != nil && open.Key == x.Key}
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

// PinAction is the button that a fact has.
func (q *request) PinAction(pinned bool) string {
	if pinned {
		return "unpin"
	}
	return "pin"
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
}

// Side is one of two facts, seen beside the other.
func (f frame) Side(same bool, n knowledge.Name, value string, other knowledge.Name, otherValue string) side {
	return side{
		Same: same, Name: n, Value: value, From: other, Other: other.Category + "/" + other.Key, OtherValue: otherValue,
		Address: f.Fact(n.Category, n.Key), Judge: f.Action("judge"), Rename: f.Action("rename"), Back: f.Back(), ReadOnly: f.ReadOnly,
	}
}
