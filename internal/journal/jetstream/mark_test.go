package jetstream

import "testing"

// A name is a snapshot's only if this program could have given it: it is told in errors.
func TestTheNameOfASnapshot(t *testing.T) {
	l := &Log{s: Open(&Options{Stream: "shop"}), subject: "leanctx.shop.knowledge"}
	for name, want := range map[string]bool{
		"snapshot/knowledge/9-10-99-ABCDEF":    true,
		"snapshot/knowledge/9-10-99-X\n\n## S": false,
		"snapshot/knowledge/9-10-99-\x1b[31m":  false,
		"snapshot/knowledge/9-10--99-X":        false,
		"snapshot/knowledge/9-10-99-":          false,
		"snapshot/other/9-10-99-X":             false,
	} {
		if _, ok := l.mark(name); ok != want {
			t.Errorf("%q: %v", name, ok)
		}
	}
}
