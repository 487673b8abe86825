package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event writes a server-sent event.
func event(w io.Writer, name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name) // a client that has gone reads nothing
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
}

type dict = map[string]any

func (l line) arguments() string {
	text, err := json.Marshal(l.input)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// roles reads messages that stand in a list, each with its role.
func roles(list any, role func(dict) string) (said []spoken) {
	all, _ := list.([]any)
	for _, x := range all {
		if m, ok := x.(dict); ok {
			said = append(said, spoken{role(m), texts(m)})
		}
	}
	return said
}

func plainRole(m dict) string {
	if r, _ := m["role"].(string); r == "user" || r == "assistant" {
		return r
	}
	return "other"
}

// messages is Anthropic's form.
type messages struct{}

func (messages) read(body []byte) ([]spoken, []string) {
	b := object(body)
	said := roles(b["messages"], func(m dict) string {
		if parts, ok := m["content"].([]any); ok && len(parts) > 0 {
			if p, ok := parts[0].(dict); ok && (p["type"] == "tool_result" || p["name"] == toolSearch) {
				return "other"
			}
		}
		return plainRole(m)
	})
	return said, namesOf(b["tools"], "")
}

func (messages) write(w io.Writer, l line) {
	event(w, "message_start", dict{"type": "message_start", "message": dict{"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{}, "stop_reason": nil, "usage": dict{"input_tokens": 10, "output_tokens": 1}}})
	block, delta, stop := dict{"type": "text", "text": ""}, dict{"type": "text_delta", "text": l.say}, "end_turn"
	if l.tool != "" {
		block, delta, stop = dict{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": l.tool, "input": dict{}}, dict{"type": "input_json_delta", "partial_json": l.arguments()}, "tool_use"
	}
	event(w, "content_block_start", dict{"type": "content_block_start", "index": 0, "content_block": block})
	event(w, "content_block_delta", dict{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, "content_block_stop", dict{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", dict{"type": "message_delta", "delta": dict{"stop_reason": stop, "stop_sequence": nil}, "usage": dict{"output_tokens": 5}})
	event(w, "message_stop", dict{"type": "message_stop"})
}

// responses is OpenAI's newer form.
type responses struct{}

func (responses) read(body []byte) ([]spoken, []string) {
	b := object(body)
	said := roles(b["input"], func(m dict) string {
		if m["type"] == "function_call" {
			return "assistant"
		}
		return plainRole(m)
	})
	return said, namesOf(b["tools"], "")
}

func (responses) write(w io.Writer, l line) {
	item := dict{"type": "message", "id": "msg_" + rand.Text(), "role": "assistant", "status": "completed", "content": []any{dict{"type": "output_text", "text": l.say, "annotations": []any{}}}}
	if l.tool != "" {
		item = dict{"type": "function_call", "id": "fc_" + rand.Text(), "call_id": "call_" + rand.Text(), "name": l.tool, "arguments": l.arguments(), "status": "completed"}
		if group, name, ok := strings.Cut(l.tool, "/"); ok {
			item["namespace"], item["name"] = group, name
		}
	}
	id := "resp_" + rand.Text()
	event(w, "response.created", dict{"type": "response.created", "response": dict{"id": id}})
	event(w, "response.output_item.added", dict{"type": "response.output_item.added", "output_index": 0, "item": item})
	event(w, "response.output_item.done", dict{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, "response.completed", dict{"type": "response.completed", "response": dict{"id": id, "status": "completed", "output": []any{item}, "usage": dict{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}})
}

// completions is OpenAI's older form, which many others took over.
type completions struct{}

func (completions) read(body []byte) ([]spoken, []string) {
	b := object(body)
	return roles(b["messages"], plainRole), namesOf(b["tools"], "")
}

func (completions) write(w io.Writer, l line) {
	chunk := func(delta dict, finish any) {
		event(w, "", dict{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []any{dict{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	stop := "stop"
	if l.tool == "" {
		chunk(dict{"role": "assistant", "content": l.say}, nil)
	} else {
		stop = "tool_calls"
		chunk(dict{"role": "assistant", "tool_calls": []any{dict{"index": 0, "id": "call_" + rand.Text(), "type": "function", "function": dict{"name": l.tool, "arguments": l.arguments()}}}}, nil)
	}
	chunk(dict{}, stop)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// contents is Gemini's form.
type contents struct{}

func (contents) read(body []byte) ([]spoken, []string) {
	b := object(body)
	said := roles(b["contents"], func(m dict) string {
		if m["role"] == "model" {
			return "assistant"
		}
		if parts, ok := m["parts"].([]any); ok && len(parts) > 0 {
			if p, ok := parts[0].(dict); ok && p["functionResponse"] != nil {
				return "other"
			}
		}
		return plainRole(m)
	})
	return said, namesOf(b["tools"], "")
}

func (contents) write(w io.Writer, l line) {
	part := dict{"text": l.say}
	if l.tool != "" {
		part = dict{"functionCall": dict{"name": l.tool, "args": l.input}}
	}
	event(w, "", dict{"candidates": []any{dict{"index": 0, "content": dict{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}}, "usageMetadata": dict{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}})
}
