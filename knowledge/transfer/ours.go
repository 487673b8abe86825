package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"leanctx/formats/okf"
	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
)

// headSize is how much of a file shows whether an export wrote it.
const headSize = 64 << 10

// IsExport reports whether an export wrote what is at a path, or nothing is there. So a caller
// that must not overwrite a person's files may replace it.
func IsExport(path string) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return areRooms(path)
	case !info.Mode().IsRegular():
		return false, nil
	}
	head, err := readHead(path)
	return isDocument(head) || isRecords(head), err
}

// areRooms reports whether a directory holds nothing but an export's Markdown files. A file that
// an export which was killed did not rename is one too.
func areRooms(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err != nil || !e.Type().IsRegular() {
			return false, err
		}
		if unfinished, _ := path.Match(atomicfile.Temporary("*.md"), e.Name()); unfinished {
			continue
		}
		text, err := args.File("", filepath.Join(dir, e.Name()), maxRoom)
		if err != nil || !okf.IsRoom(text) && !(e.Name() == indexName && okf.IsIndex(text)) {
			return false, err
		}
	}
	return err == nil, err
}

func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, headSize))
}

// isDocument reports whether a file begins as a native export does.
func isDocument(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte(`{`)) &&
		bytes.Contains(head, []byte(`"schema": `)) && bytes.Contains(head, []byte(`"project_hash": `)) && bytes.Contains(head, []byte(`"facts": [`))
}

// isRecords reports whether a file begins with a record: a line of its own, or the first of an
// array.
func isRecords(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(bytes.TrimSpace(head), []byte("["))))
	var r struct {
		Category, Value *string
		ValidFrom       *string `json:"valid_from"`
	}
	return d.Decode(&r) == nil && r.Category != nil && r.Value != nil && r.ValidFrom != nil
}
