package transcript

import (
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// gemini reads the transcripts of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.jsonl, and *.json of earlier
// versions, which is one document, rewritten whole. A line is the head of a session, a message, or a change of the
// record, in which all messages may stand again. A message comes again at each update of its tools: what has not ended
// yet is not given.
func gemini() *client {
	return &client{
		name: "gemini", line: geminiLine, document: geminiDocument, folder: ".gemini/tmp",
		matches: func(rel string) bool {
			return strings.Contains(rel, "/chats/") && (strings.HasSuffix(rel, ".json") || strings.HasSuffix(rel, ".jsonl"))
		},
	}
}

type geminiEntry struct {
	SessionID string          `json:"sessionId"`
	StartTime string          `json:"startTime"`
	Messages  []geminiMessage `json:"messages"`
	Set       *struct {
		Messages []geminiMessage `json:"messages"`
	} `json:"$set"`
	geminiMessage
}

type geminiMessage struct {
	ID        string         `json:"id"`
	Timestamp string         `json:"timestamp"`
	Type      string         `json:"type"`
	Content   jsontext.Value `json:"content"`
	Tokens    struct {
		Input int `json:"input"`
	} `json:"tokens"`
	ToolCalls []struct {
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Args      jsontext.Value `json:"args"`
		Result    jsontext.Value `json:"result"`
		Status    string         `json:"status"`
		Timestamp string         `json:"timestamp"`
	} `json:"toolCalls"`
}

func geminiLine(r *reading, line []byte) {
	var e geminiEntry
	if decode(line, &e) != nil {
		r.counts.Skipped++
		return
	}
	r.gemini(&e)
}

func geminiDocument(r *reading, all []byte) { geminiLine(r, all) }

// document reads a transcript that is one JSON document. It is rewritten whole, so all of it is read again.
func (r *reading) document(f io.ReaderAt, size, most int64) error {
	if size == r.place.Offset && !r.counts.Again {
		return nil
	}
	if size > maxDocument {
		r.counts.Long++
		r.place.Offset = size
		return nil
	}
	if most > 0 && size > most {
		r.counts.More = true
		return nil
	}
	all, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return err
	}
	if r.counts.Bytes = size; !complete(all) {
		return nil // it is being written
	}
	r.client.document(r, all)
	if r.err == nil {
		r.place.Offset = size
	}
	return r.err
}

func (r *reading) gemini(e *geminiEntry) {
	if e.SessionID != "" {
		s := Session{ID: e.SessionID, Began: instant(e.StartTime)}
		if r.place.Dir == "" {
			s.Dir = geminiDir(r.path)
		}
		r.begin(s)
	}
	messages := e.Messages
	if e.Set != nil {
		messages = append(messages, e.Set.Messages...)
	}
	if e.ID != "" && e.Type != "" {
		messages = append(messages, e.geminiMessage)
	} else if len(messages) == 0 && e.SessionID == "" {
		r.counts.Skipped++
	}
	for i := range messages {
		r.geminiMessage(&messages[i])
	}
}

func (r *reading) geminiMessage(m *geminiMessage) {
	at := instant(m.Timestamp)
	switch m.Type {
	case "user":
		r.give(Turn{ID: m.ID, At: at, Role: User, Text: said(textOf(m.Content))})
	case "gemini":
		r.begin(Session{Context: m.Tokens.Input})
		r.give(Turn{ID: m.ID, At: at, Role: Agent, Text: textOf(m.Content)})
		for _, t := range m.ToolCalls {
			c := newCall(t.ID, t.Name, t.Args)
			c.At = at
			switch ok := t.Status == "success"; t.Status {
			case "success", "error":
				c.OK = &ok
			case "cancelled":
			default:
				continue // it has not ended
			}
			text := geminiResult(t.Result)
			if m := geminiExit().FindStringSubmatch(text); m != nil && m[1] != "0" {
				c.OK = new(bool)
			}
			r.give(c.turn(text))
		}
	default:
		r.counts.Skipped++
	}
}

// geminiResult is what a tool gave, without the client's marks round it.
func geminiResult(result jsontext.Value) string {
	var list []struct {
		Response struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	if decode(result, &list) != nil {
		return textOf(result)
	}
	var parts []string
	for _, x := range list {
		if text := x.Response.Response.Output + x.Response.Response.Error; text != "" {
			parts = append(parts, strings.NewReplacer("<untrusted_context>\n", "", "\n</untrusted_context>", "").Replace(text))
		}
	}
	return strings.Join(parts, "\n")
}

// geminiExit matches the exit code that the client writes after what a command gave.
var geminiExit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Exit Code: (\d+)$`) })

// geminiDir is the directory of a session: the client keeps it in a file beside its chats.
func geminiDir(path string) string {
	f, size, err := open(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root"))
	if err != nil || size > 16<<10 {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, size))
	if err = errors.Join(err, f.Close()); err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
