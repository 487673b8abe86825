package op

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// CallSum is a checksum of a call of a tool, by which a client's hook and our server see that it is the same one. The
// order of the arguments does not count.
func CallSum(tool string, arguments json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(arguments, &args) == nil {
		if sorted, err := json.Marshal(args); err == nil {
			arguments = sorted
		}
	}
	h := sha256.Sum256(slices.Concat([]byte(tool), []byte{0}, arguments))
	return hex.EncodeToString(h[:8])
}
