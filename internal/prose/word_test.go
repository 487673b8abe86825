package prose

import "testing"

func TestWordsAndLines(t *testing.T) {
	for text, want := range map[string][2]bool{
		"": {true, true}, "claude-1a2b": {true, true}, "Ann Lee": {false, true},
		"a\nb": {false, false}, "<system-reminder>": {false, false}, "a\u202eb": {false, false}, "a\u200bb": {false, false},
	} {
		if got := [2]bool{IsWord(text), IsLine(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
