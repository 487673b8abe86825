package mcpsrv

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// watchEvery is the interval of polling while there are subscribers. A poll is a few stats
// of files.
const watchEvery = 500 * time.Millisecond

// subscription is a resource that a client wants to be told of.
type subscription struct {
	uri     string
	session *mcp.ServerSession
}

// watch tells subscribers, in both protocol eras, that the project has changed. Every
// resource may have changed then: a client that wants to know reads it.
type watch struct {
	server *Server

	mu   sync.Mutex
	all  map[subscription]bool
	stop func() // stops polling and waits for that; nil: nobody is subscribed
}

func (w *watch) subscribe(_ context.Context, req *mcp.SubscribeRequest) error {
	if _, _, ok := w.server.source(req.Params.URI); !ok {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[subscription{req.Params.URI, req.Session}] = true
	if w.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		last := w.server.options.Stamp()
		running.Go(func() { w.poll(ctx, last) })
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
	stop := w.stop
	if len(w.all) > 0 || stop == nil {
		stop = func() {}
	} else {
		w.stop = nil
	}
	w.mu.Unlock()
	stop()
}

// poll notifies all subscribers whenever the stamp is not the last one.
func (w *watch) poll(ctx context.Context, last string) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		stamp := w.server.options.Stamp()
		if stamp == last {
			continue
		}
		last = stamp
		uris := map[string]bool{}
		w.mu.Lock()
		for s := range w.all {
			uris[s.uri] = true
		}
		w.mu.Unlock()
		for uri := range uris {
			if err := w.server.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				w.server.options.Logger.Debug("an update was not told", "uri", uri, "error", err)
			}
		}
	}
}
