package index

import (
	"errors"
	"strconv"
	"strings"
)

// externalID is id NUL category NUL key NUL lengths.
func externalID(who Ident, sizes [FieldCount]int) string {
	var s strings.Builder
	s.WriteString(who.ID + "\x00" + who.Name + "\x00")
	for _, n := range sizes {
		s.WriteString(strconv.FormatInt(int64(n), 36) + " ")
	}
	return s.String()
}

var errIdent = errors.New("malformed identity of a fact")

func parseExternalID(s string) (who Ident, sizes [FieldCount]int, err error) {
	id, rest, ok := strings.Cut(s, "\x00")
	cut := strings.LastIndexByte(rest, 0)
	if !ok || cut < 0 {
		return who, sizes, errIdent
	}
	f := strings.Fields(rest[cut+1:])
	if len(f) != int(FieldCount) {
		return who, sizes, errIdent
	}
	for i := range sizes {
		n, err := strconv.ParseInt(f[i], 36, 32)
		if err != nil {
			return who, sizes, errIdent
		}
		sizes[i] = int(n)
	}
	return Ident{id, rest[:cut]}, sizes, nil
}

// identIn is the identity alone. Its texts are parts of s.
func identIn(s string) (Ident, error) {
	id, rest, ok := strings.Cut(s, "\x00")
	cut := strings.LastIndexByte(rest, 0)
	if !ok || cut < 0 {
		return Ident{}, errIdent
	}
	return Ident{id, rest[:cut]}, nil
}
