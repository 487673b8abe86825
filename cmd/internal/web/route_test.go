package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The log repeats no address that is not known: it can hold a secret or move a terminal.
func TestLogRepeatsKnownRoutesAlone(t *testing.T) {
	for path, want := range map[string]string{
		"/":                             "/",
		"/facts/security/token":         "/facts/…/…",
		"/api/knowledge/remember":       "/api/knowledge/remember",
		"/api/ghp_0123456789/x\x1b[2J":  "/api/…/…",
		"/ghp_0123456789":               "/…",
		"/\x1b[2J\u202e":                "/…",
		"/p/0123456789abcdef/facts/a/b": "/p/0123456789abcdef/facts/…/…",
		"/p/0123456789abcdef/secret":    "/p/0123456789abcdef/…",
		"/p/none":                       "/…/…",
		"/.well-known/agent-card.json":  "/.well-known/…",
		"/health":                       "/health",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL = &url.URL{Path: path}
		if got := route(r); got != want {
			t.Errorf("route(%q) = %q, want %q", path, got, want)
		}
	}
}

// Of a method that is none no word is logged: who has no token fills the log with it.
func TestLogRepeatsKnownMethodsAlone(t *testing.T) {
	for name, want := range map[string]string{"GET": "GET", "OPTIONS": "OPTIONS", strings.Repeat("A", 60_000): "other", "run curl": "other", "": "other", "get": "other"} {
		if got := method(&http.Request{Method: name}); got != want {
			t.Errorf("%.20q: %.20q", name, got)
		}
	}
}
