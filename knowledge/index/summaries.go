package index

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// summariesName is the file of a generation with the summaries of all its facts, one after the other. Each is the
// length of the ID, the ID, the length of the summary, and the summary. In bleve one would look up each document for
// it.
const summariesName = "summaries"

func appendSummary(b []byte, id string, summary []byte) []byte {
	if len(summary) == 0 {
		return b
	}
	b = append(binary.AppendUvarint(b, uint64(len(id))), id...)
	return append(binary.AppendUvarint(b, uint64(len(summary))), summary...)
}

var errSummaries = errors.New("the summaries of the index cannot be read")

// summaries gives each summary of the generation, in no order, until visit returns false. What it gives is to be
// kept as it is.
func (g *generation) summaries(visit func(id string, summary []byte) bool) error {
	if g == nil {
		return nil
	}
	data := make([]byte, g.Files[summariesName].Size)
	if _, err := g.all.ReadAt(data, 0); err != nil && err != io.EOF {
		return err
	}
	part := func() ([]byte, bool) {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return nil, false
		}
		x := data[size : size+int(n)]
		data = data[size+int(n):]
		return x, true
	}
	for len(data) > 0 {
		id, ok := part()
		summary, also := part()
		if !ok || !also {
			return errSummaries
		}
		if !visit(string(id), summary) {
			return nil
		}
	}
	return nil
}

// Summaries gives the summary of each fact, in no order, until visit returns false. What it gives is to be kept as it
// is.
func (x *Index) Summaries(visit func(id string, summary []byte) bool) error {
	return x.view(func() error {
		more := true
		err := x.disk.summaries(func(id string, summary []byte) bool {
			if _, replaced := x.tail[id]; !replaced {
				more = visit(id, summary)
			}
			return more
		})
		for id, d := range x.tail {
			if err == nil && more && !d.removed && len(d.Summary) > 0 {
				more = visit(id, d.Summary)
			}
		}
		return err
	})
}

// writeSummaries writes those of g that tail does not replace, and those of tail.
func writeSummaries(path string, g *generation, tail []*tailDoc) error {
	replaced := make(map[string]bool, len(tail))
	var data []byte
	for _, d := range tail {
		replaced[d.ID] = true
		if !d.removed {
			data = appendSummary(data, d.ID, d.Summary)
		}
	}
	err := g.summaries(func(id string, summary []byte) bool {
		if !replaced[id] {
			data = appendSummary(data, id, summary)
		}
		return true
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, summariesName), data, 0o600)
}
