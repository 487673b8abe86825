package formats

import (
	"errors"
	"strings"
	"testing"
)

// A file in which nearly nothing is a record is refused before each of its lines is named.
func TestTooManyBadRecords(t *testing.T) {
	const record = `{"category":"a","key":"b","value":"c"}`
	for name, text := range map[string]string{
		"lines": record + "\n" + strings.Repeat("x\n", MaxBad+1), "objects": record + "\n" + strings.Repeat("{}\n", MaxBad+1), "elements": "[" + strings.Repeat("{},\n", MaxBad+1) + record + "]",
	} {
		_, err := ParseDocument([]byte(text))
		if m, ok := errors.AsType[*MistakeError](err); !ok || m.Line < MaxBad {
			t.Errorf("%s: %v", name, err)
		}
		if p, err := ParseDocument([]byte(strings.Replace(strings.Replace(text, "x\n", "", 2), "{},\n", "", 2))); name != "objects" && (err != nil || len(p.Records) != 1) {
			t.Errorf("%s: %v, %d records", name, err, len(p.Records))
		}
	}
}
