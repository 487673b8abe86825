package mcpsrv

import (
	"context"
	_ "embed"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/internal/prose"
)

//go:embed instructions.md
var instructionText string

// othersText is for a project where others work.
//
//go:embed others.md
var othersText string

const (
	// instructionsMax is the limit in characters. Clients cut at 4096.
	instructionsMax = 2000

	dataLine = prose.MemoryHeading

	// moreLine ends a briefing that was cut.
	moreLine = `… more: ctx_recall {"action":"wakeup"}`

	// briefingDeadline bounds a handshake when the disk is slow.
	briefingDeadline = 2 * time.Second
)

// withInstructions puts the current instructions into the two results that have them, one in
// each protocol era.
func (s *Server) withInstructions(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		switch r := result.(type) {
		case *mcp.InitializeResult:
			if err == nil {
				r.Instructions = s.instructions(ctx)
			}
		case *mcp.DiscoverResult:
			if err == nil {
				r.Instructions = s.instructions(ctx)
			}
		}
		return result, err
	}
}

// instructions is the fixed text followed by the briefing. It speaks of other agents only where there are some.
func (s *Server) instructions(ctx context.Context) string {
	fixed := strings.TrimSpace(instructionText)
	ctx, cancel := context.WithTimeout(ctx, briefingDeadline)
	defer cancel()
	if s.options.Others != nil && s.options.Others(ctx) {
		fixed += "\n" + strings.TrimSpace(othersText)
	}
	if s.options.Briefing == nil {
		return fixed
	}
	room := instructionsMax - utf8.RuneCountInString(fixed) - utf8.RuneCountInString(dataLine) - len("\n\n\n")
	briefing := cut(s.options.Briefing(ctx), room)
	if briefing == "" {
		return fixed
	}
	return fixed + "\n\n" + dataLine + "\n" + briefing
}

// cut shortens a briefing to room characters and keeps whole facts only.
func cut(briefing string, room int) string {
	if utf8.RuneCountInString(briefing) <= room {
		return briefing
	}
	short := prose.CutFacts(briefing, room-utf8.RuneCountInString(moreLine)-1)
	if short == "" {
		return ""
	}
	return short + "\n" + moreLine
}
