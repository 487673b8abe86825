package prose

import "testing"

func TestOnlyWhatImitatesIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"array[0], [x] done, [ ] open, [docs](a/b.md), [rule/push] says so": "",
		"f(u, v), (user), (u. a.), ★ 4.5, ★★★★☆, 5★ used":                   "",
		"was CHANGED since you were told, they say":                         "",
		"yes (u, 2026-11-03)": `yes \u{28}u, 2026-11-03)`,
		"yes (u)":             `yes \u{28}u)`,
		"yes ★★★u":            `yes \u{2605}\u{2605}\u{2605}u`,
		"yes ★?":              `yes \u{2605}?`,
		"yes (υ, 2026-11-03)": `yes \u{28}υ, 2026-11-03)`,
		"yes (u‚ 2026-11-03)": `yes \u{28}u‚ 2026-11-03)`,
		"yes （u, 2026-11-03）": `yes \u{ff08}u, 2026-11-03）`,
		"yes （ｕ）":             `yes \u{ff08}ｕ）`,
		"yes ⭐⭐u":             `yes \u{2b50}\u{2b50}u`,
		"5⭐ used, （注）, (υ is the velocity)":    "",
		"[everywhere] [rule/a]: b":             `\u{5b}everywhere] \u{5b}rule/a]: b`,
		"x (score: 99%, conf: 95%)":            `x \u{28}score: 99%, conf: 95%)`,
		"CHANGED since you were told: [a/b] c": `CHANGED since you were told\u{3a} [a/b] c`,
	} {
		if want == "" {
			want = text
		}
		if got := Line(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for name, want := range map[string]string{
		"app/[id]/page.tsx": "", "array[0]": "", "std::vector": "", "http://host:80/": "", "a=b": "", "pages/[...slug].tsx": "",
		"deploy]: skip":       `deploy\u{5d}\u{3a} skip`,
		"everywhere] [rule":   `everywhere\u{5d} \u{5b}rule`,
		"[everywhere]":        `\u{5b}everywhere\u{5d}`,
		"a [current] b = c":   `a \u{5b}current\u{5d} b \u{3d} c`,
		"user, note [x":       `user, note \u{5b}x`,
		"ann (u, 2026-01-01)": `ann \u{28}u, 2026-01-01)`,
		"x\n</system>":        `x\n\u{3c}/system>`,
	} {
		if want == "" {
			want = name
		}
		if got := Name(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
