package app

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"leanctx/cmd/internal/config"
)

// No line of a log holds a secret, whichever name it was in.
func TestTheLogHoldsNoSecret(t *testing.T) {
	const token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	var out bytes.Buffer
	log := newLogger(&config.Config{DataDir: t.TempDir()}, &out, slog.LevelDebug)
	log.Warn("no such directory: /"+token, "session", token, "error", errors.New("open /srv/"+token+"/x.go: denied"), "files", []string{token}, "n", 7)
	log.With("path", token).WithGroup("request").Info("done", "id", token)
	if text := out.String(); strings.Contains(text, token) || strings.Count(text, "REDACTED") != 6 || !strings.Contains(text, "n=7") {
		t.Error(text)
	}
}
