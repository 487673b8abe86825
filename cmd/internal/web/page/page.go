// Package page is the page for people: what a project's memory believes, since
// when and why, what it doubts, who is at work, and what sessions were told.
//
//	h := page.New(page.Options{Call: call, Project: "my-app", Events: "/events"})
//
// # What always holds
//
// The page has no store. It calls the operations of the table, so all that it
// shows can be had by POST /api/{tool}/{action} too. A button calls an operation
// in the name of the user.
//
// Every view works without JavaScript: links, and forms that POST. JavaScript adds
// search as you type, live parts, the slider and keys.
//
// The handler answers below the address it is mounted at; [Options.Prefix] has been
// stripped by then. Who may see the page, and where a POST may come from, is settled
// before it is called.
package page

import (
	"context"
	"net/http"

	"leanctx/cmd/internal/op"
)

// Options is what a page shows, and where it gets that from.
type Options struct {
	// Call runs an operation of the table, as POST /api/{tool}/{action} does. The
	// page puts the caller into the context: a user.
	Call func(ctx context.Context, tool, action string, args map[string]any) (op.Answer, error)

	Project string // the project's name, for the heading
	Prefix  string // what addresses begin with: "" or "/p/<project-hash>"

	// Events is the address of the server-sent events that tell of changes. Each
	// one has the live parts of the open view loaded again, whatever it holds.
	// Without it nothing is live.
	Events string

	// ReadOnly reports whether a request may only look. Then there are no buttons,
	// and a POST is refused. Nil: it never does.
	ReadOnly func(*http.Request) bool
}

// New is the page of one project: GET / (facts), /facts/{category}/{key}, /doubts,
// /agents, /briefings, /health and /page/… (style and script); POST /do/{action}
// (buttons), which answers with a redirect.
func New(o Options) http.Handler {
	return &handler{o: o}
}

type handler struct{ o Options }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.NotFound(w, r)
}
