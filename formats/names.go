package formats

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// FoldName is how categories and keys are compared: Unicode NFKC, white space
// trimmed at both ends, full case folding. FoldName(FoldName(s)) is FoldName(s).
func FoldName(s string) string {
	if simple(s) {
		return strings.ToLower(strings.TrimSpace(s)) // allocates only when there are capitals
	}
	return foldAny(strings.ToValidUTF8(s, "\uFFFD"))
}

func foldAny(s string) string {
	// Folding can undo a normal form and a normal form can bring capitals and
	// spaces to light (U+1D2C, U+00A0); two rounds settle all of Unicode, the
	// bound is for what a later version of it may think of.
	for range 4 {
		t := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
		if t = strings.TrimSpace(t); t == s {
			break
		}
		s = t
	}
	return s
}

// simple reports whether s is of letters for which lower case is all there is
// to folding: ASCII and the alphabets of Cyrillic that are in use. Most names
// are, and the general way takes thirty times as long.
func simple(s string) bool {
	for _, r := range s {
		if r >= 0x80 && (r < 0x400 || r > 0x45f) {
			return false
		}
	}
	return true
}

// VersionID makes the id of a version that has none: "f-" and 16 hexadecimal
// digits that depend on nothing but the arguments. n tells versions apart that
// agree in all else; who finds an id taken asks again with n+1.
func VersionID(category, key, value string, recorded time.Time, n int) string {
	h := sha256.New()
	var size [8]byte
	for _, s := range []string{category, key, value, recorded.UTC().Format(time.RFC3339Nano)} {
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	binary.BigEndian.PutUint64(size[:], uint64(n))
	h.Write(size[:])
	return "f-" + hex.EncodeToString(h.Sum(nil)[:8])
}
