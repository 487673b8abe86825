package knowledge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/transfer"
)

// Bad lines are named by their number, and keep the good ones out unless they
// may be left out.
func TestImportBad(t *testing.T) {
	lines := []string{
		`{"category":"c","key":"good","value":"v"}`,
		`not JSON`,
		``,
		`{"category":"c","key":"no value"}`,
		`{"category":"c","key":"nan","value":"v","confidence":"high"}`,
		`{"category":"c","key":"much","value":"v","confidence":1.1}`,
		`{"category":"c","key":"when","value":"v","valid_from":"2025-02-30"}`,
		`{"category":"c","key":"down","value":"v","valid_from":"2025-02-02","valid_until":"2025-02-01"}`,
		`{"category":"c","key":"big","value":"` + strings.Repeat("x", MaxValue+1) + `"}`,
		"{\"category\":\"c\",\"key\":\"bytes\",\"value\":\"caf\xe9\"}",
		`{"category":"c\u001b[2J","key":"k","value":"v"}`,
		`{"category":"c","key":"good too","value":"v"}`,
		`{"category":"c","key":"cut`,
	}
	s := testStore(t, nil)
	in := transfer.Incoming{Data: strings.NewReader(strings.Join(lines, "\n"))}
	_, err := transfer.Import(t.Context(), s.Store, in)
	bad, ok := errors.AsType[*transfer.BadFileError](err)
	if !ok || !printable(err.Error()) {
		t.Fatalf("%v", err)
	}
	var got []int
	for _, b := range bad.Bad {
		got = append(got, b.Line)
	}
	if diff := cmp.Diff([]int{2, 4, 5, 6, 7, 8, 9, 10, 11, 13}, got); diff != "" {
		t.Errorf("bad lines (-want +got):\n%s", diff)
	}
	if written := files(t, s.dir); len(written) > 0 {
		t.Errorf("something was written: %q", written)
	}
	in.Data, in.SkipBad = strings.NewReader(strings.Join(lines, "\n")), true
	if r, err := transfer.Import(t.Context(), s.Store, in); err != nil || r.Added != 2 || len(r.Bad) != 10 || !printable(r.Text()) {
		t.Errorf("%s, %v", r.Text(), err)
	}
	for name, text := range map[string]string{
		"a number": "42", "a text": `"facts"`, "cut off": `[{"category":"c","key":"k","value":"v"},`,
		"a confidence too many": `{"schema":1,"facts":[{"id":"f-1","category":"c","key":"k","value":"v","confidence":7,"created_at":"2025-01-01T00:00:00Z"}]}`,
		"an empty name":         `{"schema":1,"facts":[{"id":"f-1","category":" ","key":"","value":"v","confidence":1,"created_at":"2025-01-01T00:00:00Z"}]}`,
		"an empty value":        `{"schema":1,"facts":[{"id":"f-1","category":"c","key":"k","value":"","confidence":1,"created_at":"2025-01-01T00:00:00Z"}]}`,
		"too long":              `{"schema":1,"facts":[{"id":"f-1","category":"c","key":"long","value":"` + strings.Repeat("x", MaxValue+1) + `","confidence":1,"created_at":"2025-01-01T00:00:00Z"}]}`,
		"newer":                 `{"schema":2,"facts":[]}`,
	} {
		before := files(t, s.dir)
		if r, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(text)}); err == nil {
			t.Errorf("%s: %s", name, r.Text())
		}
		if diff := cmp.Diff(before, files(t, s.dir)); diff != "" {
			t.Errorf("%s: files changed:\n%s", name, diff)
		}
	}
}
