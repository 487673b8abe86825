package knowledge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/listing"
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
		"a dispute's id":        disputeFile(`"id":"x"`),
		"a dispute's state":     disputeFile(`"state":"maybe"`),
		"judged by nobody":      disputeFile(`"state":"rejected"`),
		"a dispute's source":    disputeFile(`"source":{"kind":"root"}`),
		"a dispute's value":     disputeFile(`"value":""`),
		"a rival's claim":       disputeFile(`"rival":{"category":"c","key":"x"}`),
		"newer":                 `{"schema":3,"facts":[]}`,
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

// disputeFile is a fact file with one fact and one dispute, of which some members
// are others.
func disputeFile(members string) string {
	return `{"schema":1,"facts":[{"id":"f-1","category":"c","key":"k","value":"v","confidence":1,"created_at":"2025-01-01T00:00:00Z"}],
		"disputes":[{"id":"d-1234","category":"c","key":"k","value":"w","confidence":0.5,"source":{"kind":"agent","by":"codex-1acc"},"at":"2025-01-02T00:00:00Z","against":"f-1","state":"open",` + members + `}]}`
}

// A file's disputes about a fact that was here before are an import's claims, and
// what it says of who judged them counts for nothing.
func TestImportedDisputesHaveNoAuthority(t *testing.T) {
	const asUser = `"source":{"kind":"user","by":"user"}`
	judged := `"state":"rejected","settled":{"kind":"user","at":"2025-01-03T00:00:00Z"}`
	for name, x := range map[string]struct {
		known          bool // the fact was here before
		members, merge string
		by             Actor
		want           string
	}{
		"with its fact":               {false, asUser, "", Actor{Agent: "a-1"}, "open by user"},
		"judged, with its fact":       {false, judged, "", Actor{Agent: "a-1"}, "rejected by codex-1acc"},
		"about ours":                  {true, asUser, "", Actor{Agent: "a-1"}, "open by import:user"},
		"judged, about ours":          {true, judged, "", Actor{Agent: "a-1"}, ""},
		"a user's import":             {true, asUser, "", Actor{Kind: KindUser}, "open by import:user"},
		"a user's replaces":           {true, asUser, "replace", Actor{Kind: KindUser}, "open by user"},
		"an agent's does not replace": {true, asUser, "replace", Actor{Agent: "a-1"}, "open by import:user"},
		"against nothing":             {false, `"against":"f-2"`, "", Actor{Kind: KindUser}, ""},
	} {
		s := testStore(t, nil)
		if x.known {
			if _, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(strings.ReplaceAll(disputeFile(`"removal":false`), "disputes", "none"))}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := transfer.Import(t.Context(), s.As(x.by), transfer.Incoming{Merge: x.merge, Data: strings.NewReader(disputeFile(x.members))}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{State: "all"})
		var got strings.Builder
		for _, d := range r.Disputes {
			got.WriteString(d.State + " by " + d.By)
		}
		if err != nil || got.String() != x.want {
			t.Errorf("%s: %q, want %q (%v)", name, got.String(), x.want, err)
		}
	}
}
