package mcpsrv

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// progressEvery is how far apart two notifications of progress are at least.
const progressEvery = 200 * time.Millisecond

// reporting has a call's progress sent to a client that asked for it by a
// token, the end always.
func (s *Server) reporting(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return ctx
	}
	last, sent := time.Now(), 0
	return op.WithProgress(ctx, func(done, total int) {
		if done <= sent || done < total && time.Since(last) < progressEvery {
			return
		}
		last, sent = time.Now(), done
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(done), Total: float64(total),
		})
		if err != nil {
			s.options.Logger.Debug("progress was not sent", "error", err)
		}
	})
}
