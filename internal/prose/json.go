package prose

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"

	json "github.com/go-json-experiment/json/v1"
)

// JSON is a value as JSON on one line. It is that of encoding/json, and has the members of an embedded
// map too. What [Escaped] reports is written as an escape of JSON, so that a model reads no tag and no
// hidden character, and a program reads the text as it is. Nothing else is escaped: a model pays for each.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return escapedJSON(strings.TrimSuffix(b.String(), "\n")), err
}

// escapedJSON writes the characters of a JSON text that a model should not read as \uXXXX. They only
// stand in its strings.
func escapedJSON(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == '<' || IsHidden(r) }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		// A blank after < may be an escape already.
		if !Escaped(text, i) && !(r == '<' && strings.HasPrefix(text[i+1:], `\`)) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
