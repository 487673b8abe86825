package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leanctx/formats/transcript"
	"leanctx/internal/atomicfile"
	"leanctx/knowledge/words"
)

// The word list is what a search reads instead of the sessions: of each turn the words, as checksums of their stems, and how
// often it has each. It is a quarter as long as the text and is compared word by word, without cutting a text. A bleve index
// of the turns was the other way: it tells neither how often a turn beside a match has a word, nor a whole session, by which
// we rank, and takes .16 ms a turn to make.
//
// It is a cache. A search scans the text of what the list does not cover: the end of a session that goes on, or all of it. It
// grows where time is: at the end of a session, of an import, and after a search that had much to scan.
//
// The file is a head line and blocks: length, checksum, and of a session's file the name, from which byte to which it covers,
// and the turns. Only the lock's holder writes. A block that is torn or that does not go on where the one before ended is
// passed over.
const (
	wordsName = "words"
	wordsHead = "lean-ctx words 1\n"
	maxBlock  = 4 << 20 // bytes of a session that a block covers, about

	maxBlockBytes = 256 << 20 // of a block: what says that it is longer is damaged
)

// block is a part of a session in the word list.
type block struct {
	name     string
	from, to int64
	turns    []byte
}

// termSum is the checksum of a stem: 32 bits of FNV-1a.
func termSum(term string) uint32 {
	h := uint32(2166136261)
	for i := range len(term) {
		h = (h ^ uint32(term[i])) * 16777619
	}
	return h
}

// blocks gives the blocks of a word list that are whole, each with its bytes. Both are good until the next one.
func blocks(list io.Reader) func(func(block, []byte) bool) {
	return func(yield func(block, []byte) bool) {
		in := bufio.NewReaderSize(list, 256<<10)
		var all []byte
		read := func(n int) bool {
			all = slices.Grow(all, n)
			_, err := io.ReadFull(in, all[len(all):len(all)+n])
			all = all[:len(all)+n]
			return err == nil
		}
		if !read(len(wordsHead)) || string(all) != wordsHead {
			return
		}
		for {
			// One that was torn, or is damaged, is the last: what follows cannot be told from it.
			if all = all[:0]; !read(8) {
				return
			}
			n := binary.LittleEndian.Uint32(all)
			if n > maxBlockBytes || !read(int(n)) || crc32.ChecksumIEEE(all[8:]) != binary.LittleEndian.Uint32(all[4:]) {
				return
			}
			r := varints{all[8:]}
			name := r.take(r.next())
			b := block{name: string(name), from: r.next(), to: r.next(), turns: r.rest}
			if !yield(b, all) {
				return
			}
		}
	}
}

// varints reads numbers from bytes whose checksum was right.
type varints struct{ rest []byte }

func (r *varints) next() int64 {
	n, size := binary.Uvarint(r.rest)
	r.rest = r.rest[max(0, size):]
	return int64(n)
}

func (r *varints) take(n int64) []byte {
	n = max(0, min(n, int64(len(r.rest))))
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// The letters of roles in a word list.
var roleLetters = map[string]byte{transcript.User: 'u', transcript.Agent: 'a', transcript.Tool: 't', transcript.Program: 'p'}

// wordSet knows the checksums that are looked for.
type wordSet struct {
	sums   []uint32
	filter [1 << 10]uint64
}

func newWordSet(terms []string) *wordSet {
	w := new(wordSet)
	for _, term := range terms {
		sum := termSum(term)
		w.sums = append(w.sums, sum)
		w.filter[sum>>6&1023] |= 1 << (sum & 63)
	}
	return w
}

// read takes from a block the turns that have words of a set.
func (x *scanned) read(b *block, set *wordSet, q search) {
	r := varints{b.turns}
	for len(r.rest) > 0 {
		n, at, length := r.next(), r.next(), r.next()
		letter := r.take(1)
		if len(letter) == 0 {
			return // no process of ours wrote it
		}
		role, k := letter[0], r.next()
		sums, counts := r.take(4*k), r.take(k)
		if q.said && role == 't' || q.user && role != 'u' {
			continue
		}
		x.turns++
		x.bytes += int(length)
		var ref *turnRef
		for i := 0; i+4 <= len(sums); i += 4 {
			sum := binary.LittleEndian.Uint32(sums[i:])
			if set.filter[sum>>6&1023]>>(sum&63)&1 == 0 {
				continue
			}
			for j, want := range set.sums {
				if sum != want {
					continue
				}
				if ref == nil {
					ref = &turnRef{n: int(n), at: int(at), length: int(length), tool: role == 't', exact: true, counts: make([]uint8, len(set.sums))}
					x.refs = append(x.refs, ref)
				}
				ref.counts[j] = counts[i/4]
			}
		}
	}
}

// wordList is what the word list holds of some sessions, and how much of each it covers.
func (s *Store) wordList(scans []*scanned, set *wordSet, q search) error {
	file, _, err := openRegular(filepath.Join(s.dir, wordsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	byName := make(map[string]*scanned, len(scans))
	for _, x := range scans {
		byName[x.file] = x
	}
	for b := range blocks(file) {
		if x := byName[b.name]; x != nil && b.from == x.covered && b.to <= x.size {
			x.covered = b.to
			x.read(&b, set, q)
		}
	}
	return nil
}

// Index adds to the word list what it does not cover, until a time; zero: all. It does nothing while another process takes in.
func (s *Store) Index(ctx context.Context, until time.Time) error {
	unlock, err := s.lock()
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	targets, err := s.targets()
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, wordsName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	covered, end := map[string]int64{}, 0
	for b, all := range blocks(f) {
		end += len(all)
		if b.from == covered[b.name] {
			covered[b.name] = b.to
		}
	}
	if end == 0 {
		_, err = f.WriteAt([]byte(wordsHead), 0)
	}
	end += len(wordsHead)
	lexicon := words.NewLexicon()
	for _, t := range targets {
		from := covered[t.file]
		for err == nil && from < t.size && context.Cause(ctx) == nil && (until.IsZero() || time.Now().Before(until)) {
			var out []byte
			to := from
			if out, to, err = s.block(t.file, from, lexicon); err != nil || to == from {
				break
			}
			if _, err = f.WriteAt(out, int64(end)); err == nil {
				end, from = end+len(out), to
			}
		}
	}
	// What a process that was killed left behind, or a full disk, is cut off.
	return errors.Join(err, f.Truncate(int64(end)), f.Close())
}

// block makes the block of a part of a session's file. to is where the next one begins.
func (s *Store) block(file string, from int64, lexicon *words.Lexicon) (out []byte, to int64, err error) {
	text, err := s.part(file, from, maxBlock)
	if err != nil {
		return nil, from, err
	}
	if whole := bytes.LastIndexByte(text, '\n') + 1; whole > 0 {
		text = text[:whole]
	} else if text, err = s.part(file, from, 1<<62); err != nil { // a line that is longer
		return nil, from, err
	} else if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i+1]
	} else {
		return nil, from, nil // it is being written
	}
	to = from + int64(len(text))
	body := binary.AppendUvarint(nil, uint64(len(file)))
	body = append(body, file...)
	body = binary.AppendUvarint(body, uint64(from))
	body = binary.AppendUvarint(body, uint64(to))
	for line := range turnLines(text) {
		var t Turn
		if json.Unmarshal(line.whole, &t) != nil {
			continue
		}
		counts, _ := lexicon.Count(searched(&t))
		for _, n := range []int{line.n, int(from) + line.at, len(line.body)} {
			body = binary.AppendUvarint(body, uint64(n))
		}
		body = append(body, roleLetters[t.Role])
		body = binary.AppendUvarint(body, uint64(len(counts)))
		terms := slices.Collect(maps.Keys(counts))
		for _, term := range terms {
			body = binary.LittleEndian.AppendUint32(body, termSum(term))
		}
		for _, term := range terms {
			body = append(body, uint8(min(255, counts[term])))
		}
	}
	out = binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	return append(out, body...), to, nil
}

// forgetWords takes sessions out of the word list. The sessions are locked.
func (s *Store) forgetWords(files map[string]bool) error {
	path := filepath.Join(s.dir, wordsName)
	list, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	left := []byte(wordsHead)
	for b, all := range blocks(bytes.NewReader(list)) {
		if !files[b.name] {
			left = append(left, all...)
		}
	}
	return atomicfile.WriteFile(path, left, atomicfile.Options{})
}
