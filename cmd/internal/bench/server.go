package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"leanctx/knowledge"
)

// server is a `lean-ctx mcp` of its own. It is spoken to in plain lines: a
// client's library would be a part of what is measured.
type server struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errs    strings.Builder
	id      int
}

// serve starts a server on a data directory and shakes hands with it.
func (b *bed) serve(ctx context.Context, data string) (*server, error) {
	s := &server{process: exec.CommandContext(ctx, b.Program, "mcp")}
	s.process.Dir, s.process.Stderr = b.project, &s.errs
	s.process.Env = b.Environ(map[string]string{"LEAN_CTX_DATA_DIR": data})
	in, err := s.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	type object = map[string]any
	if _, err := s.request("initialize", object{
		"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "bench", "version": "1"},
	}); err != nil {
		return nil, s.end(err)
	}
	if err := s.send(object{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		return nil, s.end(err)
	}
	return s, nil
}

// end ends the server in order and adds to err what went wrong with that.
func (s *server) end(err error) error {
	closed := s.in.Close()
	_, drained := io.Copy(io.Discard, s.out)
	waited := s.process.Wait()
	if err = errors.Join(err, closed, drained, waited); err != nil {
		return fmt.Errorf("the server: %w: %s", err, strings.TrimSpace(s.errs.String()))
	}
	return nil
}

func (s *server) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(line, '\n'))
	return err
}

// request asks and waits for the answer.
func (s *server) request(method string, params any) (json.RawMessage, error) {
	s.id++
	err := s.send(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	for err == nil {
		var line []byte
		if line, err = s.out.ReadBytes('\n'); err != nil {
			break
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err = json.Unmarshal(line, &answer); err != nil || answer.ID != s.id {
			continue
		}
		if len(answer.Error) > 0 {
			return nil, fmt.Errorf("%s: %s", method, answer.Error)
		}
		return answer.Result, nil
	}
	return nil, fmt.Errorf("%s: no answer: %w", method, err)
}

// call calls a tool.
func (s *server) call(tool string, arguments map[string]any) error {
	result, err := s.request("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return err
	}
	var answer struct {
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return err
	}
	if answer.IsError {
		return fmt.Errorf("%s %v: %s", tool, arguments, result)
	}
	return nil
}

func (s *server) recall(q knowledge.Question) error {
	arguments := map[string]any{"action": "recall", "query": q.Query}
	if q.Query == "" {
		arguments = map[string]any{"action": "recall", "category": q.Category, "key": q.Key}
	}
	return s.call("ctx_recall", arguments)
}
