package mcpsrv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
)

// parse reads one message. If the line is none, it says what is wrong, and gives the id that
// the answer has, if one could be read.
func parse(data []byte) (msg jsonrpc.Message, id json.RawMessage, wrong *jsonrpc.Error) {
	bad := func(code int64, format string, args ...any) (jsonrpc.Message, json.RawMessage, *jsonrpc.Error) {
		return nil, id, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
	}
	if err := op.Bounded(data); err != nil {
		id = validID(idOf(data))
		return bad(jsonrpc.CodeInvalidRequest, "invalid request: the message %v", err)
	}
	switch {
	case !json.Valid(data):
		return bad(jsonrpc.CodeParseError, "parse error: the line is not JSON")
	case data[0] == '[':
		return bad(jsonrpc.CodeInvalidRequest, "batches are not part of MCP: send one message a line")
	case data[0] != '{':
		return bad(jsonrpc.CodeInvalidRequest, "invalid request: a message is an object")
	}
	sent := idOf(data)
	id = validID(sent)
	if !utf8.Valid(data) { // decoding would replace it by U+FFFD, and store a value that was not sent
		return bad(jsonrpc.CodeParseError, "parse error: the line is not valid UTF-8")
	}
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return bad(jsonrpc.CodeInvalidRequest, "invalid request: %v", err)
	}
	if req, ok := msg.(*jsonrpc.Request); ok && sent != nil && !sameID(req.ID, id) {
		return bad(jsonrpc.CodeInvalidRequest, "invalid request: an id is a text or a whole number")
	}
	return msg, nil, nil
}

// sameID reports whether the SDK will answer with the same id. It reads numbers through a
// float into 64-bit integers.
func sameID(id jsonrpc.ID, raw json.RawMessage) bool {
	switch v := id.Raw().(type) {
	case string:
		return true
	case int64:
		return strconv.FormatInt(v, 10) == string(raw)
	}
	return false
}

// refuse answers a line that is no request. The id is null if none could be read, as
// JSON-RPC says.
func (p *pipe) refuse(id json.RawMessage, wrong *jsonrpc.Error) {
	data, err := json.Marshal(struct { // nil is written as null
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   error           `json:"error"`
	}{"2.0", id, normalized(wrong)})
	if err == nil {
		err = p.send(data)
	}
	if err != nil {
		p.logger.Warn("answer not sent", "error", err)
	}
}

// normalized sets the code of an error that the SDK left at 0, and shortens its message, which
// may repeat the whole request.
func normalized(err error) error {
	if err == nil {
		return nil
	}
	out := &jsonrpc.Error{Message: err.Error()}
	if known, ok := errors.AsType[*jsonrpc.Error](err); ok {
		out.Code, out.Data = known.Code, known.Data
	}
	if out.Code == 0 {
		out.Code = jsonrpc.CodeInvalidRequest
	}
	out.Message = prose.Clip(out.Message, maxMessage)
	return out
}

// maxMessage is in characters.
const maxMessage = 600

// idOf is the id of a message as it was sent, nil if there is none.
func idOf(data []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m.ID
}

// validID is an id that an answer can have, or nil.
func validID(id json.RawMessage) json.RawMessage {
	if len(id) == 0 || id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		return nil
	}
	return id
}
