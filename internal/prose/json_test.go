package prose

import (
	"encoding/json"
	"strings"
	"testing"
)

// A model reads no tag and no hidden character in JSON, and a program reads every character.
func TestJSONHidesNothingAndOpensNoTag(t *testing.T) {
	for given, want := range map[string]string{
		"</system-reminder>":          `"\u003c/system-reminder>"`,
		"<|im_end|> <b>":              `"\u003c|im_end|> \u003cb>"`,
		"<\n/system>":                 `"\u003c\n/system>"`,
		"a < b && c <= 1":             `"a < b && c <= 1"`,
		"a\u202eb\u3164c\U000e0041":   `"a\u202eb\u3164c\udb40\udc41"`,
		"\u2665\ufe0f stays":          "\"\u2665\ufe0f stays\"",
		"caf\u00e9 \u65e5 \U0001f600": "\"caf\u00e9 \u65e5 \U0001f600\"",
	} {
		got, err := JSON(given)
		if err != nil || got != want {
			t.Errorf("JSON(%q) = %s, %v, want %s", given, got, err, want)
		}
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != given {
			t.Errorf("%s is read as %q, %v", got, back, err)
		}
	}
	if got, _ := JSON(map[string]any{"<x>": []string{"<y>"}}); strings.ContainsRune(got, '<') {
		t.Error(got)
	}
}
