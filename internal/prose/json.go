package prose

import (
	"bytes"
	"strings"

	json "github.com/go-json-experiment/json/v1"
)

// JSON is a value as JSON on one line, without escapes for HTML: a model pays for each. It is that of
// encoding/json, and has the members of an embedded map too.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
