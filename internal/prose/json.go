package prose

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON is a value as JSON on one line, without escapes for HTML: a model pays for each.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
