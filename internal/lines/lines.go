// Package lines writes JSON files with one record a line, so that people can
// read them and programs that know nothing of JSON can compare them.
//
// We write the braces and names ourselves; encoding/json's indentation was
// rejected because it gives every member of a record a line of its own.
package lines

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// Value is something as JSON that always can be: a name, a number, a time.
func Value(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}

// List writes a member of an object whose value is a list, a comma before it
// and each item in a line of its own. The error is w's, or that of an item that
// is no JSON.
func List[T any](w io.Writer, name string, items iter.Seq[T]) error {
	if _, err := fmt.Fprintf(w, ",\n      %q: [", name); err != nil {
		return err
	}
	sep, end := "\n        ", "]"
	for x := range items {
		line, err := json.Marshal(x)
		if err == nil {
			_, err = w.Write(append([]byte(sep), line...))
		}
		if err != nil {
			return err
		}
		sep, end = ",\n        ", "\n      ]"
	}
	_, err := io.WriteString(w, end)
	return err
}
