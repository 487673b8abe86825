package replica

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"leanctx/formats"
	"leanctx/internal/atomicfile"
)

// Who wrote a line
//
// A replica signs its lines with the private key of its store. The first line of its file has the
// public key and is signed itself. What a key does not verify is a line of nobody: whoever can write
// into the repository can write such lines, under any id. A [writer] is an id together with the
// key, so a line under another's id is never taken for one of that replica.

// writer is who wrote a line: the id of a replica and the fingerprint of the key that verifies the
// line. The fingerprint is empty where none does.
type writer struct{ id, key string }

func (w writer) compare(x writer) int {
	return cmp.Or(cmp.Compare(w.id, x.id), cmp.Compare(w.key, x.key))
}

// String is the writer's name in the member seen of a line.
func (w writer) String() string { return w.id + "~" + w.key }

// keySet are the public keys that the lines of each replica may be verified with.
type keySet map[string][]ed25519.PublicKey

// maxKeys is how many keys of one id are tried: its own, and some that others put in its way.
const maxKeys = 4

func (k keySet) add(id string, key ed25519.PublicKey) {
	if len(k[id]) < maxKeys && !slices.ContainsFunc(k[id], func(x ed25519.PublicKey) bool { return x.Equal(key) }) {
		k[id] = append(k[id], key)
	}
}

// verify finds out who wrote a line.
func (k keySet) verify(l *Line) {
	l.writer = writer{id: l.writer.id}
	if l.sig == nil {
		return
	}
	for _, key := range k[l.writer.id] {
		if ed25519.Verify(key, l.signed(), l.sig) {
			l.writer.key = Fingerprint(key)
			return
		}
	}
}

// Fingerprint tells one public key from others: 16 hex digits.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

func decodeKey(text string) (ed25519.PublicKey, bool) {
	key, err := base64.RawStdEncoding.DecodeString(text)
	return key, err == nil && len(key) == ed25519.PublicKeySize
}

func encodeKey(key ed25519.PublicKey) string { return base64.RawStdEncoding.EncodeToString(key) }

// keyName is the file beside the facts that holds the private key.
const keyName = "replica.key"

// readKey reads the private key of a store. It is nil where there is none yet.
func readKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, keyName)
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<10 {
		return nil, errors.Join(err, fmt.Errorf("%s is no private key: move it away, then lean-ctx sync makes a new one", path))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	seed, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s is no private key: move it away, then lean-ctx sync makes a new one", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// makeKey makes the private key of a store. It is on disk when makeKey returns, unless it is only
// for a check.
func makeKey(dir string, check bool) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil || check {
		return key, err
	}
	text := base64.RawStdEncoding.EncodeToString(key.Seed()) + "\n"
	return key, atomicfile.WriteFile(filepath.Join(dir, keyName), []byte(text), atomicfile.Options{Mode: 0o600, Sync: true})
}

// publicOf is the public key of a private one, which may be nil.
func publicOf(key ed25519.PrivateKey) ed25519.PublicKey {
	if key == nil {
		return nil
	}
	return key.Public().(ed25519.PublicKey)
}

// trust is whose lines are believed like what was said here: see [Folded].
type trust struct {
	bound map[string]string // the key that the lines of a replica must have, by its id
	keys  map[string]bool   // all of them: a replica that takes a new id keeps its key

	own string // the key of the store itself

	ctx context.Context // of the command that folds; nil: nothing ends it
}

// stopped reports whether the command that folds was ended. Then what was folded is of no use.
func (t *trust) stopped() bool { return t != nil && t.ctx != nil && t.ctx.Err() != nil }

func (t *trust) add(id, key string) {
	if t.bound == nil {
		t.bound, t.keys = map[string]string{}, map[string]bool{}
	}
	t.bound[id], t.keys[key] = key, true
}

func (t *trust) has(w writer) bool {
	if key, ok := t.bound[w.id]; ok {
		return w.key == key && key != ""
	}
	return w.key != "" && t.keys[w.key]
}

// trustOf is whom a store trusts: itself, under all its ids, and the replicas that a person named.
func trustOf(r *formats.Replica, own string) *trust {
	t := &trust{own: own}
	for _, x := range r.Trusted {
		if key, ok := decodeKey(x.Key); ok {
			t.add(x.ID, Fingerprint(key))
		}
	}
	for _, id := range append(slices.Clip(r.Former), r.ID) {
		if _, ok := t.bound[id]; !ok || id == r.ID {
			t.add(id, own)
		}
	}
	return t
}
