package hook

import (
	"encoding/json"
	"reflect"

	"github.com/tailscale/hujson"
)

// same compares a value of the text with one of ours by its meaning.
func same(v *hujson.Value, ours any) bool {
	var b any
	if err := json.Unmarshal(compact(ours), &b); err != nil {
		return false
	}
	return reflect.DeepEqual(decoded(v), b)
}

// decoded is the meaning of a value; nothing if it has none.
func decoded(v *hujson.Value) any {
	c := v.Clone()
	c.Standardize()
	var x any
	if json.Unmarshal(c.Pack(), &x) != nil {
		return nil
	}
	return x
}
