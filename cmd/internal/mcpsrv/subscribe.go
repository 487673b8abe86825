package mcpsrv

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// watchEvery is the interval of polling while there are subscribers. A poll is a few stats
// of files.
const watchEvery = 500 * time.Millisecond

// watch notifies subscribers when a resource has changed, in both protocol eras.
//
// A write need not change every resource: a claim changes no inbox. So when the stamp
// changes, each resource is read again and compared with its last text, or with its JSON if
// the text has ages.
type watch struct {
	server *Server

	mu    sync.Mutex
	to    map[string]map[*mcp.ServerSession]bool // subscribers by URI
	shown map[string]shown                       // the last content by URI
	stop  func()                                 // stops polling and waits for that; nil: no subscribers
}

// shown is the content of a resource, and its caller: the grant in ctx may name the project.
type shown struct {
	ctx  context.Context
	text string
}

func newWatch(s *Server) *watch {
	return &watch{server: s, to: make(map[string]map[*mcp.ServerSession]bool), shown: make(map[string]shown)}
}

func (w *watch) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	shows, err := w.server.shows(ctx, uri)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to[uri] == nil {
		w.to[uri], w.shown[uri] = make(map[*mcp.ServerSession]bool), shown{context.WithoutCancel(ctx), shows}
	}
	w.to[uri][req.Session] = true
	if w.stop == nil {
		w.start()
	}
	return nil
}

func (w *watch) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(req.Params.URI, req.Session)
	return nil
}

// forget removes a subscription.
func (w *watch) forget(uri string, session *mcp.ServerSession) {
	delete(w.to[uri], session)
	if len(w.to[uri]) == 0 {
		delete(w.to, uri)
		delete(w.shown, uri)
	}
}

// drop ends the subscriptions of a connection. If none are left, polling has ended when drop
// returns.
func (w *watch) drop(session *mcp.ServerSession) {
	w.mu.Lock()
	for _, uri := range slices.Collect(maps.Keys(w.to)) {
		w.forget(uri, session)
	}
	stop := w.stop
	if len(w.to) > 0 {
		stop = nil
	}
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// start starts polling. w.mu is held.
func (w *watch) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.look(ctx) })
	w.stop = func() {
		cancel()
		running.Wait()
	}
}

// look polls until there are no subscribers.
func (w *watch) look(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := "" // the first poll compares: there may have been a write since the subscription
	for {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		w.mu.Lock()
		switch {
		case len(w.to) == 0:
			w.stop = nil
			w.mu.Unlock()
			return
		case ctx.Err() != nil: // a subscriber came while the last one left
			w.start()
			w.mu.Unlock()
			return
		}
		uris := slices.Sorted(maps.Keys(w.to))
		w.mu.Unlock()
		stamp := w.server.options.Stamp()
		if stamp == last {
			continue
		}
		last = stamp
		for _, uri := range uris {
			w.compare(ctx, uri)
		}
	}
}

// compare notifies the subscribers of a resource if it has changed.
func (w *watch) compare(ctx context.Context, uri string) {
	w.mu.Lock()
	was, subscribed := w.shown[uri]
	w.mu.Unlock()
	if !subscribed {
		return
	}
	shows, err := w.server.shows(was.ctx, uri)
	if err != nil {
		w.server.options.Logger.Debug("a resource cannot be watched", "uri", uri, "error", err)
		return
	}
	w.mu.Lock()
	if was, subscribed = w.shown[uri]; subscribed {
		w.shown[uri] = shown{was.ctx, shows}
	}
	w.mu.Unlock()
	if !subscribed || was.text == shows {
		return
	}
	if err := w.server.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		w.server.options.Logger.Debug("an update was not told", "uri", uri, "error", err)
	}
}

// shows is the content of a resource in a form to compare.
func (s *Server) shows(ctx context.Context, uri string) (string, error) {
	for _, src := range sources {
		args, ok := src.call(encoded(uri))
		if !ok || s.tools[src.tool] == nil {
			continue
		}
		a, err := s.tools[src.tool].Call(ctx, src.action, args)
		if err != nil {
			return "", protocolError(err)
		}
		if src.ages {
			return a.JSON()
		}
		return a.Result.Text(), nil
	}
	return "", mcp.ResourceNotFoundError(uri)
}
