package mcpsrv

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// watchEvery is the interval of polling while there are subscribers. A poll is a few stats
// of files.
const watchEvery = 500 * time.Millisecond

// subscription is a resource whose changes a client wants to know.
type subscription struct {
	uri     string
	session *mcp.ServerSession
}

// content is what a resource was last seen to hold. The grant in ctx may name the project.
type content struct {
	ctx  context.Context
	text string
}

// watch tells subscribers, in both protocol eras, that a resource has changed. When the project
// has, each resource is read again and compared: a fact of one category changes no other.
type watch struct {
	server *Server

	mu   sync.Mutex
	all  map[subscription]bool
	seen map[string]content // by URI
	stop func()             // stops polling and waits for that; nil: nobody is subscribed
}

func (w *watch) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	ctx = op.WithCaller(ctx, w.server.caller(ctx, req))
	text, err := w.server.text(ctx, uri)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.seen[uri]; !known {
		w.seen[uri] = content{context.WithoutCancel(ctx), text}
	}
	w.all[subscription{uri, req.Session}] = true
	if w.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { w.poll(ctx) })
		w.stop = func() {
			cancel()
			running.Wait()
		}
	}
	return nil
}

func (w *watch) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.drop(func(s subscription) bool { return s == subscription{req.Params.URI, req.Session} })
	return nil
}

// drop ends subscriptions. If none is left, polling has ended when drop returns.
func (w *watch) drop(which func(subscription) bool) {
	w.mu.Lock()
	maps.DeleteFunc(w.all, func(s subscription, _ bool) bool { return which(s) })
	wanted := map[string]bool{}
	for s := range w.all {
		wanted[s.uri] = true
	}
	maps.DeleteFunc(w.seen, func(uri string, _ content) bool { return !wanted[uri] })
	stop := w.stop
	if len(w.all) > 0 || stop == nil {
		stop = func() {}
	} else {
		w.stop = nil
	}
	w.mu.Unlock()
	stop()
}

// poll compares the resources whenever the stamp changes, and once at its beginning: something may
// have been written since the subscription.
func (w *watch) poll(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last, first := "", true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		seen := maps.Clone(w.seen)
		w.mu.Unlock()
		stamp := w.stamp(seen)
		if stamp == last && !first {
			continue
		}
		last = stamp
		for uri, was := range seen {
			if err := w.compare(ctx, uri, was); err != nil {
				w.server.options.Logger.Debug("a subscriber was not told of a change", "uri", uri, "error", err)
			}
		}
	}
}

// stamp is another text whenever one of the resources may have changed. Those of one connection
// have one project.
func (w *watch) stamp(seen map[string]content) string {
	stamps := map[string]bool{}
	for _, was := range seen {
		stamps[w.server.options.Stamp(was.ctx)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(stamps)), "\n")
}

// compare tells the subscribers of a resource if it holds something else than before.
func (w *watch) compare(ctx context.Context, uri string, was content) error {
	text, err := w.server.text(was.ctx, uri)
	if err != nil || text == was.text {
		return err
	}
	w.mu.Lock()
	if _, wanted := w.seen[uri]; wanted {
		w.seen[uri] = content{was.ctx, text}
	}
	w.mu.Unlock()
	return w.server.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
}
