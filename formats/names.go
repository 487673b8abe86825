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
	// Folding can undo a normal form, and a normal form can produce capitals and spaces
	// (U+1D2C, U+00A0). Two rounds are enough for all of Unicode today.
	for range 4 {
		t := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
		if t = strings.TrimSpace(t); t == s {
			break
		}
		s = t
	}
	return s
}

// simple reports whether s has only ASCII and the Cyrillic letters in use. For them
// folding is lower case. Most names are such, and the general way is 30 times slower.
func simple(s string) bool {
	for _, r := range s {
		if r >= 0x80 && (r < 0x400 || r > 0x45f) {
			return false
		}
	}
	return true
}

// VersionID makes the id of a version that has none: "f-" and 16 hexadecimal digits that
// depend only on the arguments. If the id is taken, call it again with n+1.
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
