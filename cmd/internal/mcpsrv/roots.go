//lint:file-ignore SA1019 clients of 2025-11-25 say with roots where they work; the later protocol has nothing in their place.

package mcpsrv

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// rootsDeadline is how long a client may take to say which directories are open in it.
const rootsDeadline = 2 * time.Second

// withoutRoots is the first protocol version in which a server sends no requests.
const withoutRoots = "2026-07-28"

// workspace is where the client of a connection works. It is asked at the first call: before,
// no request may be sent to it.
type workspace struct {
	mu      sync.Mutex
	asked   bool
	roots   []string
	binding op.Binding
}

// workspaceOf is where the client of a request works. Requests without a connection, and those
// of the newer protocol, which has no such question, have no roots.
func (s *Server) workspaceOf(ctx context.Context, req request) *op.Workspace {
	if ctx.Value(statelessKey{}) != nil {
		return new(op.Workspace)
	}
	session, _ := req.GetSession().(*mcp.ServerSession)
	if session == nil {
		return &op.Workspace{Bound: &s.binding}
	}
	found, _ := s.workspaces.LoadOrStore(session, new(workspace))
	w := found.(*workspace)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.asked {
		w.asked, w.roots = true, s.askRoots(ctx, session)
	}
	return &op.Workspace{Roots: w.roots, Bound: &w.binding}
}

// rootsChanged has the client be asked again at its next call.
func (s *Server) rootsChanged(_ context.Context, req *mcp.RootsListChangedRequest) {
	if found, ok := s.workspaces.Load(req.Session); ok {
		w := found.(*workspace)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked = false
	}
}

// askRoots asks a client for its roots, if it offers them.
func (s *Server) askRoots(ctx context.Context, session *mcp.ServerSession) []string {
	p := session.InitializeParams()
	if p == nil || p.ProtocolVersion >= withoutRoots || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsDeadline)
	defer cancel()
	list, err := session.ListRoots(ctx, nil)
	if err != nil {
		s.options.Logger.Warn("the client did not say which directories are open", "error", err)
		return nil
	}
	var roots []string
	for _, root := range list.Roots {
		if dir := directory(root.URI); dir != "" {
			roots = append(roots, dir)
		}
	}
	return roots
}

// directory is the path of a file URI, empty for another one.
func directory(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /C:/src
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}
