package state

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"sync"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// packedLike is what the versions of most facts have in common. To change it, or how
// versions are packed, is another version of the index.
const packedLike = `"supersedes":"f-","asserted_by":"","questions":["revision_count":2,"confirmation_count":2,"last_retrieved":"2026-,"valid_until":"2026-,"recorded_until":"2026-,"privacy":"project_only","earlier_periods":[{"outcome":"replaced","pinned":true,"by":"agent","kind":"agent","by":"archetype":"architecture","archetype":"convention","archetype":"decision","archetype":"observation",` +
	`[{"id":"f-","category":"architecture","key":"","value":"","confidence":0.9,"created_at":"2026-11-22T00:00:00.Z","last_confirmed":"2026-11-22T00:00:00.Z","valid_from":"2026-11-22T00:00:00Z","confirmation_count":1,"privacy":"shared","archetype":"fact","revision_count":1,"recorded_from":"2026-11-22T00:00:00.Z","sources":[{"kind":"import","ref":"src/","at":"2026-11-22T00:00:00.Z","confidence":0.9}],"tags":[],"aliases":[],"outcome":"created"}]`

// packers are kept, since one takes most of a megabyte.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriterDict(nil, flate.DefaultCompression, []byte(packedLike))
	if err != nil {
		panic(err) // the level is one that there is
	}
	return w
}}

// packVersions is how the index keeps the versions of a fact: what is zero is left
// out, and the rest is compressed.
func packVersions(vs []*fact.Version) ([]byte, error) {
	text, err := formats.EncodeSparse(vs)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

func unpackVersions(packed []byte) (vs []*fact.Version, err error) {
	text, err := io.ReadAll(flate.NewReaderDict(bytes.NewReader(packed), []byte(packedLike)))
	if err != nil {
		return nil, err
	}
	return vs, json.Unmarshal(text, &vs)
}
