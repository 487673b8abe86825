package op

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Answer is what a call came to.
type Answer struct {
	Result  Result
	Notices []string // what was ignored or understood otherwise; a sentence each, without a full stop
	Output  string   // "text" or "json", as the caller asked
	Action  string   // the operation's name
	Scope   Scope    // where and for whom it was done; zero where the call came to no operation
}

// Made is a call that a surface has answered, for those who count.
type Made struct {
	Tool, Action string
	Scope        Scope
	In, Out      string // the arguments as JSON, the answer as it was given
}

// Render is the result in the form that was asked for. The notices are left
// to the surface: beside the text for a model, on standard error for a person.
func (a Answer) Render() (string, error) {
	if a.Output == "json" {
		return a.JSON()
	}
	return strings.TrimRight(a.Result.Text(), "\n"), nil
}

// JSON is the result on one line, as it stands in the struct: no HTML
// escaping, times in RFC 3339, no line feed at the end. One line, because it
// is read by models that pay for spaces and by programs that do not care.
func (a Answer) JSON() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a.Result); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
