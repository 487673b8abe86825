package agents

import "leanctx/internal/journal"

type lease struct {
	Path  string
	Token uint64
}

func (l *lease) key() string   { return l.Path }
func leaseKey(s string) string { return s }

type handoff struct{ Number uint64 }

func (p *project) fileHandoff(h *handoff) {}

type ring struct{}

func (ring) add(journal.Commit[event]) {}

type diaries struct{}

func (*diaries) close() error { return nil }
