package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// doubt is a write of which nobody knows whether it is on disk.
type doubt struct {
	Seq uint64 `json:"seq"` // its first commit
	Sum string `json:"sum"` // that commit's checksum
}

// noteDoubt leaves a note for the next writer, if the disk still takes one.
func (d *disk) noteDoubt(first line) {
	d.doubt = &doubt{Seq: first.seq, Sum: hexSum(first.sum)}
	text, err := json.Marshal(d.doubt)
	if err != nil {
		return
	}
	if writeName(d.fs, d.n.doubt, text) == nil { // a disk that refused to cut back may refuse this too
		_ = d.fs.syncDir()
	}
}

func (d *disk) readDoubt() (*doubt, error) {
	text, err := readName(d.fs, d.n.doubt)
	if errors.Is(err, fs.ErrNotExist) {
		return d.doubt, nil
	}
	if err != nil {
		return nil, err
	}
	var n doubt
	if json.Unmarshal(text, &n) != nil {
		return &doubt{}, nil // the note itself was cut short
	}
	return &n, nil
}

// settle says what became of a write in doubt. J has been written anew.
func (d *disk) settle(n doubt, r *recovery) error {
	if err := removeIfThere(d.fs, d.n.doubt); err != nil {
		return err
	}
	d.doubt = nil
	outcome := "is not on disk"
	for _, l := range r.lines {
		if l.seq == n.Seq && hexSum(l.sum) == n.Sum {
			outcome = "is on disk"
		}
	}
	d.note(Warning{Kind: Settled, File: d.n.journal, Seq: n.Seq,
		Text: fmt.Sprintf("commit %d was in doubt after a failed write; it %s.", n.Seq, outcome)})
	return nil
}
