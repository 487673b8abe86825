package formats

import (
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leanctx/internal/proctest"
)

func TestFoldName(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"Auth", "auth"}, {" auth\t", "auth"}, {"ＡＵＴＨ", "auth"}, {"straße", "STRASSE"}, {"ẞ", "ss"}, {"é", "É"}, {"ﬁle", "FILE"},
		{"Ключ", "КЛЮЧ"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"}, {"ǆ", "Ǆ"}, {"\u00a0auth\u3000", "auth"}, {"①", "1"}, {"가", "가"},
	} {
		if FoldName(c.a) != FoldName(c.b) {
			t.Errorf("%q and %q fold to %q and %q", c.a, c.b, FoldName(c.a), FoldName(c.b))
		}
	}
	for _, c := range []struct{ a, b string }{{"auth", "auth-"}, {"a b", "ab"}, {"ı", "i"}, {"é", "e"}, {"", "a"}} {
		if FoldName(c.a) == FoldName(c.b) {
			t.Errorf("%q and %q both fold to %q", c.a, c.b, FoldName(c.a))
		}
	}
}

func TestFoldNameTwiceIsOnce(t *testing.T) {
	for r := rune(0); r < 0x110000; r += proctest.Stride {
		if once := FoldName(string(r)); FoldName(once) != once {
			t.Errorf("%U: %q, then %q", r, once, FoldName(once))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		once := FoldName(texts().Draw(t, "name"))
		if twice := FoldName(once); twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
	})
}

func TestFoldNameShortCut(t *testing.T) {
	for r := range rune(0x500) {
		for _, s := range []string{string(r), "a" + string(r) + "й ", string(r) + string(r)} {
			if simple(s) && FoldName(s) != foldAny(s) {
				t.Errorf("%q: %q the short way, %q the long one", s, FoldName(s), foldAny(s))
			}
		}
	}
}

func TestVersionID(t *testing.T) {
	day := time.Date(2026, 1, 15, 10, 0, 0, 1, time.UTC)
	base := VersionID("a", "b", "c", day, 0)
	if base != "f-1ddbbfad73ba027a" || !regexp.MustCompile(`^f-[0-9a-f]{16}$`).MatchString(base) {
		t.Errorf("%s: ids of stores that exist must not change", base)
	}
	if local := VersionID("a", "b", "c", day.In(time.FixedZone("", 3600)), 0); local != base {
		t.Errorf("the same instant elsewhere gives %s, not %s", local, base)
	}
	for _, other := range []string{
		VersionID("ab", "", "c", day, 0), VersionID("a", "bc", "", day, 0), VersionID("A", "b", "c", day, 0), VersionID("a", "b", "c", day.Add(1), 0), VersionID("a", "b", "c", day, 1),
	} {
		if other == base {
			t.Errorf("two versions share %s", base)
		}
	}
}
