package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

const transcripts = "../../../testdata/mcp/agents"

// Conversations of several agents, as testdata/mcp/README.md says.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(transcripts, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("transcripts: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) < 2 {
				t.Fatalf("%v: want files of the project, in and out", err)
			}
			dir := home(t)
			n := len(archive.Files)
			for _, f := range archive.Files[:n-2] {
				path := filepath.Join(dir, "my-app", filepath.FromSlash(f.Name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := converse(t, serving(t), archive.Files[n-2].Data)
			if *update {
				archive.Files[n-1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[n-1].Data), got); diff != "" {
				t.Errorf("if this is meant: go test ./cmd/internal/app -run TestTranscripts -update\n%s", diff)
			}
		})
	}
}

// converse says line after line, each when the one before is answered, and
// gives what came back. A line "# method" waits for a notification.
func converse(t *testing.T, s *stores, in []byte) string {
	t.Helper()
	toServer, w := io.Pipe()
	r, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := mcpCalls{account: &account{stores: s}}.server().ServeStdio(context.Background(), toServer, fromServer)
		fromServer.Close()
		done <- err
	}()
	heard := make(chan string, 1000)
	go func() {
		defer close(heard)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			heard <- lines.Text()
		}
	}()
	var out strings.Builder
	ids := map[string]string{}
	told := make(map[string][]string) // notifications that came before an answer, by method
	for line := range strings.Lines(string(in)) {
		var request message
		method, wait := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !wait {
			if err := json.Unmarshal([]byte(line), &request); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			for shown, id := range ids {
				line = strings.ReplaceAll(line, shown, id)
			}
			if _, err := io.WriteString(w, line); err != nil {
				t.Fatal(err)
			}
			if request.ID == nil || request.Method == "subscriptions/listen" {
				continue
			}
		}
		for until := time.After(2 * time.Minute); ; {
			if list := told[method]; wait && len(list) > 0 {
				out.WriteString(settled(list[0], ids) + "\n")
				told[method] = list[1:]
				break
			}
			var text string
			select {
			case text = <-heard:
			case <-until:
				t.Fatalf("no answer to %s", line)
			}
			var a message
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				t.Fatal(err)
			}
			if a.Method != "" {
				told[a.Method] = append(told[a.Method], text)
				continue
			}
			out.WriteString(settled(text, ids) + "\n")
			if bytes.Equal(a.ID, request.ID) {
				break
			}
		}
	}
	for method, list := range told {
		if len(list) > 0 {
			t.Errorf("nobody waited for %s: %v", method, list)
		}
	}
	w.Close()
	for text := range heard {
		out.WriteString(settled(text, ids) + "\n")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	return out.String()
}

// message is what tells one apart.
type message struct {
	ID     json.RawMessage
	Method string
}

var (
	drawn  = regexp.MustCompile(`\b(cursor|claude|t)-[0-9a-f]{4,}\b`)
	ages   = regexp.MustCompile(`\b\d+s ago`)
	rows   = regexp.MustCompile(`\[session-([a-z]+)/\d{8}\]`)
	stamps = regexp.MustCompile(`\b\d{4}-\d\d-\d\d( |T)\d\d:\d\d(:\d\d(\.\d+)?)?Z?`)
)

// settled is an answer without what differs from run to run; the ids that it
// had are put into ids.
func settled(text string, ids map[string]string) string {
	text = drawn.ReplaceAllStringFunc(text, func(id string) string {
		kind, _, _ := strings.Cut(id, "-")
		ids[kind+"-ID"] = id
		return kind + "-ID"
	})
	text = strings.ReplaceAll(text, `"version":"`+build().Version+`"`, `"version":"test"`)
	text = rows.ReplaceAllString(ages.ReplaceAllString(text, "0s ago"), "[session-$1/DAY]")
	return stamps.ReplaceAllString(text, "TIME")
}
