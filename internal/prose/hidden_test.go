package prose

import (
	"strings"
	"testing"
	"unicode"
)

// No character that is not drawn reaches a model as it is, wherever it stands.
func TestEveryHiddenCharacterIsShown(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		ignorable := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) || unicode.Is(unicode.Cc, r)
		if ignorable != IsHidden(r) && r != 0x2800 && r != 0x16fe4 && r != 0x1d159 && r != 0x2028 && r != 0x2029 {
			t.Errorf("%U: hidden %v", r, IsHidden(r))
		}
		if ignorable {
			if got, want := Line("a"+string(r)+"b"), "a"+Shown(r)+"b"; got != want {
				t.Errorf("%U: %q, not %q", r, got, want)
			}
		}
	}
	for _, r := range []rune{0x34f, 0x115f, 0x17b4, 0x180b, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xffa0, 0x1d159, 0x1d173, 0xe0100, 0xe01ef} {
		if got, want := Line("a"+string(r)+string(r)), "a"+Shown(r)+Shown(r); got != want {
			t.Errorf("%U: %q, not %q", r, got, want)
		}
	}
}

func TestSelectorIsPartOfAnEmojiAlone(t *testing.T) {
	const vs = "\ufe0f"
	for given, want := range map[string]string{
		"♥" + vs + " ☎\ufe0e ℹ" + vs: "♥" + vs + " ☎\ufe0e ℹ" + vs,
		"1" + vs + "\u20e3":          "1" + vs + "\u20e3",
		"1" + vs + "2":               `1\u{fe0f}2`,
		"♥" + vs + vs:                "♥" + vs + `\u{fe0f}`,
		vs + "a" + vs:                `\u{fe0f}a\u{fe0f}`,
		"♥\ufe00":                    `♥\u{fe00}`,
		"葛\U000e0100":                `葛\u{e0100}`,
	} {
		if got := Line(given); got != want {
			t.Errorf("Line(%q) = %q, want %q", given, got, want)
		}
		if got := Visible(given, ""); got != want {
			t.Errorf("Visible(%q) = %q, want %q", given, got, want)
		}
	}
}

// Joiners stay where a script or an emoji needs them, and nowhere else.
func TestJoinersOfScriptsAndEmoji(t *testing.T) {
	const zwnj, zwj = "\u200c", "\u200d"
	for given, want := range map[string]string{
		"می" + zwnj + "خواهم":     "می" + zwnj + "خواهم",
		"क्" + zwj + "ष":          "क्" + zwj + "ष",
		"👩" + zwj + "💻":           "👩" + zwj + "💻",
		"👩🏽" + zwj + "🚀":          "👩🏽" + zwj + "🚀",
		"❤\ufe0f" + zwj + "🔥":     "❤\ufe0f" + zwj + "🔥",
		"a" + zwj + "b":           `a\u{200d}b`,
		"ж" + zwnj + "ж":          `ж\u{200c}ж`,
		"می" + zwnj + zwnj + "خ":  `می\u{200c}\u{200c}خ`,
		"می" + zwnj + " x":        `می\u{200c} x`,
		zwj + "💻":                 `\u{200d}💻`,
		"👩" + zwnj + "💻":          `👩\u{200c}💻`,
		"👩" + zwj + "x":           `👩\u{200d}x`,
		"می" + "\u200b" + "خواهم": `می\u{200b}خواهم`,
	} {
		if got := Line(given); got != want {
			t.Errorf("Line(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestNoTagBeginsOrEnds(t *testing.T) {
	for given, want := range map[string]string{
		"<system-reminder>":     `\u{3c}system-reminder>`,
		"</system-reminder>":    `\u{3c}/system-reminder>`,
		"<|im_start|>":          `\u{3c}|im_start|>`,
		"<  /system>":           `\u{3c}  /system>`,
		"<\t/a>":                `\u{3c}\t/a>`,
		"<\u00a0/a>":            "\\u{3c}\u00a0/a>",
		"<ж> <ß>":               `\u{3c}ж> \u{3c}ß>`,
		"a < b <= c << 2 <- <>": "a < b <= c << 2 <- <>",
		"<":                     "<",
	} {
		if got := Line(given); got != want {
			t.Errorf("Line(%q) = %q, want %q", given, got, want)
		}
	}
	if got := Indent("a <\n  /system>\n< b", " "); strings.Contains(got, "a <") || !strings.Contains(got, "< b") {
		t.Errorf("a tag over two lines: %q", got)
	}
}

// What an answer shows of a text or a name can be given back.
func TestEscapesAreReadBack(t *testing.T) {
	for _, s := range []string{"run make\nthen test", "a\ttab", "x</system>y", "left\u202eright", "a: b", "see [x] now", "plain", "ключ\u200d", ""} {
		if got := Read(Line(s)); got != s {
			t.Errorf("%q is shown as %q, which is read as %q", s, Line(s), got)
		}
		if name := Name(s); !strings.ContainsAny(s, "\n\t") && ReadName(name) != s {
			t.Errorf("the name %q is shown as %q, which is read as %q", s, name, ReadName(name))
		}
	}
	for _, s := range []string{`\`, `\u`, `\u{`, `\u{}`, `\u{zz}`, `\u{110000}`, `\u{d800}`, `C:\new`, `a\u{3a`} {
		if got := ReadName(s); got != s {
			t.Errorf("%q is read as the name %q", s, got)
		}
		_ = Read(s)
	}
}
