package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// model is a language model on loopback that answers from a script. It speaks Anthropic's
// Messages, OpenAI's Responses and Chat Completions, and Gemini's generateContent. A prompt
// that holds script=NAME plays the script of that name, a line for each answer of the client.
type model struct {
	*httptest.Server
	scripts map[string][]line

	mu    sync.Mutex
	heard []heard
}

// line is what the model says: words, or the call of a tool by the name that
// its server has for it.
type line struct {
	say   string
	tool  string
	input map[string]any
}

// means tells whether the line calls a tool of that name: clients put the name
// of the server before it.
func (l line) means(tool string) bool {
	return l.tool != "" && (tool == l.tool || strings.HasSuffix(tool, "_"+l.tool) || strings.HasSuffix(tool, "-"+l.tool) || strings.HasSuffix(tool, "/"+l.tool))
}

// heard is one request that a script answered.
type heard struct {
	script string
	line   int      // which line it was answered with, from 0
	body   string   // all of it
	tools  []string // the names
}

// spoken is one message of a conversation, in whatever form it came.
type spoken struct {
	role string // user, assistant; what tools and systems say is "other"
	text string
}

// toolSearch is where Claude Code keeps the tools of servers: a model that wants
// one looks for it first. That is no line of a script.
const toolSearch = "ToolSearch"

// wire is one form of speech.
type wire interface {
	read(body []byte) (said []spoken, tools []string)
	write(w io.Writer, l line)
}

func newModel(t *testing.T, scripts map[string][]line) *model {
	m := &model{scripts: scripts}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", m.over(messages{}))
	mux.Handle("POST /v1/responses", m.over(responses{}))
	mux.Handle("POST /v1/chat/completions", m.over(completions{}))
	mux.Handle("POST /v1beta/models/", m.over(contents{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"input_tokens":9}`) })
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[]}`)
	})
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

var playing = regexp.MustCompile(`script=(\w+)`)

func (m *model) over(form wire) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		said, tools := form.read(body)
		name, at := "", 0
		for _, s := range said {
			switch match := playing.FindStringSubmatch(s.text); {
			case s.role == "user" && match != nil:
				name, at = match[1], 0
			case s.role == "assistant":
				at++
			}
		}
		answer := line{say: "Done."}
		if script := m.scripts[name]; len(tools) > 0 && at < len(script) {
			answer = script[at]
		}
		if i := slices.IndexFunc(tools, answer.means); i >= 0 {
			answer.tool = tools[i]
		} else if answer.tool != "" && slices.Contains(tools, toolSearch) {
			answer = line{tool: toolSearch, input: dict{"query": answer.tool}}
		}
		if len(tools) > 0 {
			m.mu.Lock()
			m.heard = append(m.heard, heard{name, at, string(body), tools})
			m.mu.Unlock()
		}
		w.Header().Set("Content-Type", "text/event-stream")
		form.write(w, answer)
	})
}

// at is what the model received before it said a line of a script.
func (m *model) at(t *testing.T, script string, n int) string {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.heard {
		if h.script == script && h.line == n {
			return h.body
		}
	}
	t.Errorf("the model was never asked for line %d of %s", n, script)
	return ""
}

// texts is all that a JSON value says, a line a text.
func texts(v any) string {
	var b strings.Builder
	switch x := v.(type) {
	case string:
		b.WriteString(x + "\n")
	case []any:
		for _, y := range x {
			b.WriteString(texts(y))
		}
	case map[string]any:
		for _, key := range []string{"text", "content", "output", "parts"} {
			b.WriteString(texts(x[key]))
		}
	}
	return b.String()
}

// namesOf collects the names of tools, also of those that stand in groups.
func namesOf(v any, within string) (names []string) {
	switch x := v.(type) {
	case []any:
		for _, y := range x {
			names = append(names, namesOf(y, within)...)
		}
	case map[string]any:
		name, _ := x["name"].(string)
		switch {
		case x["tools"] != nil:
			return namesOf(x["tools"], name+"/")
		case x["functionDeclarations"] != nil:
			return namesOf(x["functionDeclarations"], within)
		case x["function"] != nil:
			return namesOf(x["function"], within)
		case name != "":
			return []string{within + name}
		}
	}
	return names
}

func object(body []byte) (m map[string]any) {
	if json.Unmarshal(body, &m) != nil {
		return nil
	}
	return m
}
