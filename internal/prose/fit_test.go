package prose

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFitClipsTheLongestFirst(t *testing.T) {
	text := "head\n" + strings.Repeat("é", 40_000) + "\n" + strings.Repeat("b", 900) + "\nlast"
	got, cut := Fit(text, 10_000)
	if len(got) > 10_000 || len(got) < 9_000 || cut != (Cut{Clipped: 1}) || !strings.HasPrefix(got, "head\né") || !strings.HasSuffix(got, "b\nlast") || !strings.Contains(got, "… (+7") {
		t.Errorf("%d bytes, %+v: %s", len(got), cut, got[len(got)-100:])
	}
	if got, cut := Fit(text, len(text)); got != text || cut != (Cut{}) {
		t.Error("a text that fits was cut")
	}
	many := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 100)+"\n", 1000), "\n")
	got, cut = Fit(many, 10_000)
	if n := strings.Count(got, "\n") + 1; len(got) > 10_000 || cut.Clipped > 0 || n+cut.Missing != 1000 {
		t.Errorf("%d bytes, %d lines, %+v", len(got), n, cut)
	}
}

func TestFitJSONStaysJSON(t *testing.T) {
	for name, v := range map[string]any{
		"a long text":   map[string]any{"id": "f-1", "value": strings.Repeat("\u202e<x>", 20_000)},
		"many elements": map[string]any{"facts": make([]map[string]string, 5000), "n": 7},
		"both":          map[string]any{"facts": strings.Split(strings.Repeat(strings.Repeat("v", 3000)+" ", 300), " ")},
	} {
		text, err := JSON(v)
		if err != nil {
			t.Fatal(err)
		}
		got := FitJSON(text, 10_000, "ask for less")
		var back struct {
			Facts []any
			Cut   struct {
				Clipped int
				LeftOut int `json:"left_out"`
				Hint    string
			}
		}
		if err := json.Unmarshal([]byte(got), &back); err != nil || len(got) > 10_000 || back.Cut.Hint != "ask for less" || back.Cut.Clipped+back.Cut.LeftOut == 0 {
			t.Errorf("%s: %d bytes, %v, %+v", name, len(got), err, back.Cut)
		}
		for i := range got {
			if Escaped(got, i) {
				t.Fatalf("%s: raw at %d", name, i)
			}
		}
	}
	if got := FitJSON(`{"a":1}`, 100, "x"); got != `{"a":1}` {
		t.Error(got)
	}
}
