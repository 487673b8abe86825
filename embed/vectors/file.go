package vectors

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The files of an index, and the newest form of the header that we know.
const (
	headerFile   = "embeddings.json"
	vectorFile   = "embeddings.bin"
	headerSchema = 1
)

// header is embeddings.json. It is for people, and for a version to come: what
// the vector file holds, it says itself.
type header struct {
	Schema   int              `json:"schema"`
	Encoders []EncoderEntries `json:"encoders"`
	Entries  int              `json:"entries"`
	Bytes    int64            `json:"bytes"`
	Checksum string           `json:"checksum"` // CRC-32 of the rest, written without it
}

// sum is the checksum that belongs into a header.
func (h header) sum() string {
	h.Checksum = ""
	data, _ := json.Marshal(h)
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(data))
}

// stamp tells a file that was read from what became of it.
type stamp struct {
	info os.FileInfo // nil: there is no file
	size int64
	at   time.Time
	end  int64 // of the last block that was read
	last int64 // where that block begins
	head string
}

// mark notes the head of the last block, by which the file is known again: an
// inode may come back with another file.
func (s *stamp) mark(blocks []*block) {
	if len(blocks) > 0 {
		last := blocks[len(blocks)-1]
		s.last, s.head = s.end-int64(last.size), string(last.front[:blockHead])
	}
}

func (x *Index) path() string { return filepath.Join(x.dir, headerFile) }

// refresh reads what is new in the file: nothing, what was appended, or all.
// Whatever cannot be read counts as absent.
func (x *Index) refresh() {
	root, err := os.OpenRoot(x.dir)
	if err != nil {
		x.load(nil, stamp{})
		return
	}
	defer root.Close()
	info, err := root.Stat(vectorFile)
	if err != nil || !info.Mode().IsRegular() {
		x.newer = newerHeader(root)
		x.load(nil, stamp{})
		return
	}
	old := x.stamp
	same := old.info != nil && os.SameFile(old.info, info)
	if same && old.size == info.Size() && old.at.Equal(info.ModTime()) {
		return
	}
	now := stamp{info: info, size: info.Size(), at: info.ModTime()}
	if x.newer = newerHeader(root); x.newer {
		x.load(nil, now)
		return
	}
	if same && old.end > 0 && now.size >= old.end {
		if head := readPart(root, old.last, blockHead); string(head) == old.head {
			x.grown(readPart(root, old.end, now.size-old.end), now)
			return
		}
	}
	if x.lasting || now.size < streamed || !x.fronts(root, now) {
		x.load(readPart(root, 0, now.size), now)
	}
}

// readPart gives n bytes of the file of vectors, fewer when there are fewer,
// none when it cannot be read.
func readPart(root *os.Root, from, n int64) []byte {
	f, err := root.Open(vectorFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	data := make([]byte, n)
	got, _ := f.ReadAt(data, from)
	return data[:got]
}

// grown takes in what was appended behind the last block.
func (x *Index) grown(data []byte, now stamp) {
	blocks, end, waste := readBlocks(data)
	x.addAll(blocks)
	old := x.stamp
	now.end, now.last, now.head = old.end+int64(end), old.last, old.head
	now.mark(blocks)
	x.waste += waste - int(old.size-old.end) + int(now.size-old.end) - len(data)
	x.stamp = now
}

// load makes the contents of the file, and what could not be written, all that
// there is.
func (x *Index) load(data []byte, now stamp) {
	if x.stamp.info == nil && now.info == nil {
		return
	}
	blocks, end, waste := readBlocks(data)
	if !x.newer {
		waste += int(now.size) - len(data)
	}
	now.end = int64(end)
	x.take(blocks, waste, now)
}

// take makes the blocks of the file, and what could not be written, all that
// there is.
func (x *Index) take(blocks []*block, waste int, now stamp) {
	now.mark(blocks)
	x.sets, x.waste, x.stamp = map[string]*shelf{}, waste, now
	x.addAll(append(blocks, x.local...))
}

// newerHeader reports whether a newer version wrote the header.
func newerHeader(root *os.Root) bool {
	data, err := root.ReadFile(headerFile)
	if err != nil {
		return false
	}
	var h struct {
		Schema int `json:"schema"`
	}
	return json.Unmarshal(data, &h) == nil && h.Schema > headerSchema
}

// append writes a block behind the file in one call. It is not synced: what is
// lost is encoded again.
func (x *Index) append(data []byte) error {
	return x.inFolder(func(root *os.Root) error {
		f, err := root.OpenFile(vectorFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	})
}

// rewrite puts the vectors that count, and that keep wants, into a new file of
// as few blocks as can be.
func (x *Index) rewrite(keep func(encoder string, k Key) bool) error {
	x.whole()
	var data []byte
	for _, set := range x.entries() {
		data = append(data, x.sets[set.Name].pack(set.Name, keep)...)
	}
	err := x.inFolder(func(root *os.Root) error {
		sweep(root, time.Hour)
		return replace(root, vectorFile, data)
	})
	if err != nil {
		return err
	}
	x.local = nil
	x.refresh()
	return x.writeHeader()
}

// pack gives the blocks of the vectors that count, are not damaged, and that keep
// wants.
func (s *shelf) pack(encoder string, keep func(encoder string, k Key) bool) []byte {
	var data []byte
	var keys []Key
	var numbers []int
	flush := func() {
		b := newBlock(encoder, s.dim, keys)
		for to, number := range numbers {
			from, i := s.at(number)
			b.copyRow(to, from, i)
		}
		data = append(data, b.seal()...)
		keys, numbers = keys[:0], numbers[:0]
	}
	for number := range s.n {
		b, i := s.at(number)
		if k := b.key(i); !s.isDead(number) && b.sound(i, b.row(i)) && keep(encoder, k) {
			keys, numbers = append(keys, k), append(numbers, number)
		}
		if len(keys) == blockRows {
			flush()
		}
	}
	if len(keys) > 0 {
		flush()
	}
	return data
}

// writeHeader says in embeddings.json what is there.
func (x *Index) writeHeader() error {
	h := header{Schema: headerSchema, Encoders: x.entries(), Bytes: x.stamp.size}
	for _, e := range h.Encoders {
		h.Entries += e.Entries
	}
	h.Checksum = h.sum()
	data, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	return x.inFolder(func(root *os.Root) error { return replace(root, headerFile, append(data, '\n')) })
}

// replace puts data in the place of a file at once: whoever reads sees the old
// one or the new one whole.
func replace(root *os.Root, name string, data []byte) error {
	temp := name + ".tmp-" + rand.Text()[:10]
	if err := root.WriteFile(temp, data, 0o600); err != nil {
		return errors.Join(err, ignoreAbsent(root.Remove(temp)))
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, ignoreAbsent(root.Remove(temp)))
	}
	return nil
}

// sweep deletes temporary files that are older than an age, left by a process
// that was killed.
func sweep(root *os.Root, age time.Duration) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "embeddings.") || !strings.Contains(e.Name(), ".tmp-") {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= age {
			_ = root.Remove(e.Name())
		}
	}
}

// reset deletes the files and empties the memory.
func (x *Index) reset() error {
	x.local, x.newer = nil, false
	defer func() {
		x.sets, x.waste, x.stamp = map[string]*shelf{}, 0, stamp{}
	}()
	root, err := os.OpenRoot(x.dir)
	if err != nil {
		return ignoreAbsent(err)
	}
	defer root.Close()
	sweep(root, 0)
	return errors.Join(ignoreAbsent(root.RemoveAll(vectorFile)), ignoreAbsent(root.RemoveAll(headerFile)))
}

// inFolder calls f with the folder, which is made when it is missing.
func (x *Index) inFolder(f func(root *os.Root) error) error {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(x.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
