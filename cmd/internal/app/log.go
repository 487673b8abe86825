package app

import (
	"fmt"
	"io"
	"log/slog"
	"sync"

	"leanctx/cmd/internal/config"
	"leanctx/internal/secret"
)

// newLogger writes a log from a level on. The name of a file, of a session or of an address may hold a
// secret: it is taken out of every line.
func newLogger(c *config.Config, w io.Writer, level slog.Leveler) *slog.Logger {
	rules := sync.OnceValue(func() *secret.Redactor {
		r, _ := userRules(c) // whoever needs the user's own rules says that they cannot be read
		return r
	})
	clean := func(_ []string, a slog.Attr) slog.Attr {
		var text string
		switch a.Value.Kind() {
		case slog.KindAny:
			text = fmt.Sprint(a.Value.Any())
		case slog.KindString:
			text = a.Value.String()
		}
		if c := cleaned(rules(), text); c != text {
			a.Value = slog.StringValue(c)
		}
		return a
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: clean}))
}
