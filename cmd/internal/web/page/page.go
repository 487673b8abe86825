// Package page is the page for people: a project's current facts, since when and why they are
// believed, disputes, what happened, agents at work, and the briefings of sessions.
//
//	h := page.New(page.Options{Call: call, Project: "my-app"})
//
// # What always holds
//
// The page has no store. It calls the operations of the table, so all that it
// shows can be had by POST /api/{tool}/{action} too. A button calls an operation
// in the name of the user.
//
// Every view works without JavaScript: links, and forms that POST. JavaScript adds
// search as you type, live parts, the slider and keys. The policy allows the page's own
// style and script files and no other.
//
// Every value is escaped by html/template. Hidden and bidirectional characters are
// written as escapes, so that a value reads as what it is.
//
// The handler answers below the address it is mounted at; [Options.Prefix] has been
// stripped by then. Who may see the page, and where a POST may come from, is settled
// before it is called. A caller whose grant is read-only gets no buttons, and its POST is
// refused.
//
// # Tests
//
// go test checks each view, each button and the sizes. LEAN_CTX_CHROMIUM=1 go test -run
// Chromium opens every view of a served store in Debian's Chromium, at two widths, light
// and dark. It needs Node, the npm registry and an idle machine. If LEAN_CTX_PICTURES is set,
// it writes the pictures there. page.png is that of a fact.
package page

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"

	"leanctx/cmd/internal/op"
)

// Options is what a page shows, and where it gets that from.
type Options struct {
	// Call runs an operation of the table, as POST /api/{tool}/{action} does. The
	// page puts the caller into the context: a user.
	Call func(ctx context.Context, tool, action string, args map[string]any) (op.Answer, error)

	Project string // the project's name, for the heading
	Prefix  string // what addresses begin with, that of the events (/events) too: "" or "/p/<project-hash>"
}

// New is the page of one project: GET the views, and /page/… (style and script); POST
// /do/{action} (buttons), which answers with a redirect.
func New(o Options) http.Handler {
	h := &handler{options: o}
	mux := http.NewServeMux()
	for _, v := range [...]view{
		{"GET /{$}", "facts.html", facts},
		{"GET /facts/{category}/{key}", "fact.html", fact},
		{"GET /facts/{$}", "fact.html", fact},
		{"GET /activity", "activity.html", activity},
		{"GET /doubts", "doubts.html", doubts},
		{"GET /agents", "agents.html", atWork},
		{"GET /briefings", "briefings.html", briefings},
		{"GET /health", "health.html", health},
		{"/", "error.html", func(*request) (any, error) { return nil, &missingError{"There is no page at this address."} }},
	} {
		mux.HandleFunc(v.pattern, func(w http.ResponseWriter, r *http.Request) { h.show(w, r, v) })
	}
	mux.HandleFunc("GET /page/{file}", serveAsset)
	mux.HandleFunc("POST /do/{action}", h.do)
	h.mux = mux
	return h
}

type handler struct {
	options Options
	mux     *http.ServeMux

	mu       sync.Mutex
	outcomes []outcome // of buttons that were pressed lately
}

// policy lets a page load its own style and script and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "same-origin") // a form's Origin is sent, and no address leaves the site
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	h.mux.ServeHTTP(w, r)
}

// view is a page: what makes the data that its template shows.
type view struct {
	pattern, template string
	data              func(*request) (any, error)
}

// show answers with a view, or with what went wrong.
func (h *handler) show(w http.ResponseWriter, r *http.Request, v view) {
	q := h.request(r)
	status := http.StatusOK
	var data any
	err := q.read()
	if err == nil {
		data, err = v.data(q)
	}
	if moved, ok := errors.AsType[*movedError](err); ok {
		http.Redirect(w, r, string(moved.to), http.StatusSeeOther)
		return
	}
	if err != nil {
		v.template = "error.html"
		data, status = explain(err)
	}
	var b bytes.Buffer
	if err := templates()[v.template].ExecuteTemplate(&b, "layout.html", q.frame(v.template, data)); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body := packed(w, r, b.Bytes())
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away is no error
}
