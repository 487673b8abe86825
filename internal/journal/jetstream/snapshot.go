package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/journal"
	"leanctx/internal/prose"
)

// Texts and snapshots
//
// Snapshots, large commits and shared files are objects of NATS: pieces, and one message with the
// name, which comes last. So an object is whole as soon as it has a name. We store and read them
// ourselves: the client's Put removes the pieces of an object if the answer to the last message is
// lost, and its Get and List wait for ever for what was removed meanwhile. The subject of our pieces
// holds the name too, so the remains of a broken upload are found by it.
//
// A snapshot is named snapshot/<log>/<seq>-<place>-<bytes>-<random>, which is its mark. The newest is
// that of the latest commit; of two of one commit it is the later one by name, so that every machine
// keeps the same. No name is used twice. What comes before the newest in this order is removed,
// whole or not. So nothing is taken from a machine that stores what may become the newest.

func (l *Log) name() string { return strings.TrimPrefix(l.subject, l.s.subject("")) }

// What the names of objects begin with; a name of another form is a shared file's.
const (
	snapshotObjects = "snapshot/"
	commitObjects   = "commit/"
)

// objects is what the names of this log's texts begin with.
func (l *Log) objects(kind string) string { return kind + l.name() + "/" }

// mark returns the mark that is an object's name.
func (l *Log) mark(name string) (m journal.Mark, ok bool) {
	text, ok := strings.CutPrefix(name, l.objects(snapshotObjects))
	parts := strings.Split(text, "-")
	if !ok || len(parts) != 4 || parts[3] == "" || !prose.IsWord(parts[3]) {
		return m, false
	}
	var errs [3]error
	m.Seq, errs[0] = strconv.ParseUint(parts[0], 10, 64)
	m.Place, errs[1] = strconv.ParseUint(parts[1], 10, 64)
	m.Size, errs[2] = strconv.ParseInt(parts[2], 10, 64)
	m.Name = name
	return m, errors.Join(errs[:]...) == nil && m.Size >= 0
}

func older(a, b journal.Mark) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Name, b.Name))
}

// newest picks the newest snapshot of this log.
func (l *Log) newest(objects []stored) (newest journal.Mark) {
	for _, o := range objects {
		if m, ok := l.mark(o.name); ok && o.whole && older(newest, m) < 0 {
			newest = m
		}
	}
	return newest
}

// snapshotEach is after how many commits a new snapshot is worth it, unless the stream says
// otherwise.
const snapshotEach = 4096

// Newest is [journal.Remote.Newest].
func (l *Log) Newest(ctx context.Context) (m journal.Mark, each uint64, err error) {
	b, err := l.s.objects(ctx)
	if err != nil {
		return m, 0, err
	}
	list, err := b.list(ctx, b.meta("*"))
	return l.newest(list), b.each, l.s.explain(err)
}

// Load is [journal.Remote.Load].
func (l *Log) Load(ctx context.Context, m journal.Mark) ([]byte, error) {
	return l.s.Fetch(ctx, m.Name)
}

// Save is [journal.Remote.Save].
func (l *Log) Save(ctx context.Context, m journal.Mark, text []byte) (journal.Mark, error) {
	b, err := l.s.objects(ctx)
	if err != nil {
		return m, err
	}
	m.Name = fmt.Sprintf("%s%d-%d-%d-%s", l.objects(snapshotObjects), m.Seq, m.Place, m.Size, rand.Text())
	if err := b.put(ctx, m.Name, text); err != nil {
		return m, l.s.explain(err)
	}
	newest, _, err := l.Newest(ctx)
	if err == nil && newest.Seq > m.Seq { // a text that is late may hold what was erased meanwhile
		err = l.s.explain(l.sweep(ctx, b, newest))
	}
	return slices.MaxFunc([]journal.Mark{m, newest}, older), err // the server may have been set back meanwhile, and say an older one
}

// Trim is [journal.Remote.Trim]. A large commit is erased in any case: its object goes.
func (l *Log) Trim(ctx context.Context, m journal.Mark, erased func(commit []byte) bool) error {
	if m.Seq == 0 || m.Place == 0 { // to purge up to place 0 is to purge all
		return fmt.Errorf("%s: %w: there is no snapshot", l.s.Where(), journal.ErrConflict)
	}
	d, err := l.s.connected(ctx)
	if err != nil {
		return err
	}
	b, err := l.s.objects(ctx)
	if err != nil {
		return err
	}
	var places []uint64
	if erased != nil {
		err = l.span(ctx, d, 1, m.Place, func(at uint64, h nats.Header, commit []byte) error {
			if at < m.Place && (h.Get(objectHeader) != "" || erased(commit)) {
				places = append(places, at)
			}
			return nil
		})
	}
	if err == nil {
		err = l.confirm(ctx, d, m)
	}
	if err != nil {
		return err
	}
	if erased == nil {
		err = d.stream.Purge(ctx, jetstream.WithPurgeSubject(l.subject), jetstream.WithPurgeSequence(m.Place))
	}
	for _, at := range places {
		if err == nil {
			err = overwrite(ctx, d.stream, at)
		}
	}
	if err == nil {
		err = l.sweep(ctx, b, m)
	}
	return l.s.explain(err)
}

// confirm makes sure, right before commits are taken out, that the server has the snapshot. Its disk
// may have been set back since the snapshot was stored.
func (l *Log) confirm(ctx context.Context, d *dial, m journal.Mark) error {
	on := d.connection()
	return l.s.settled(ctx, func() error {
		now, _, err := l.Newest(ctx)
		switch {
		case err != nil:
			return err
		case d.connection() != on:
			return fmt.Errorf("%s: %w: the connection was lost", l.s.Where(), journal.ErrConflict)
		case now == m || now.Seq > m.Seq: // another machine may have made a newer one
			return nil
		}
		return fmt.Errorf("%s: %w: snapshot %s is not the newest", l.s.Where(), journal.ErrConflict, m.Name)
	})
}

// overwrite deletes a message, if it is there, and has the server write over its bytes.
func overwrite(ctx context.Context, s jetstream.Stream, seq uint64) error {
	err := s.SecureDeleteMsg(ctx, seq)
	if err == nil {
		return nil
	}
	if _, there := s.GetMsg(ctx, seq); errors.Is(there, jetstream.ErrMsgNotFound) {
		return nil // another machine was first
	}
	return err
}

// sweep removes the objects of this log that the newest snapshot makes needless. m may be an
// earlier one.
func (l *Log) sweep(ctx context.Context, b *bucket, m journal.Mark) error {
	list, err := b.list(ctx, "$O."+b.name+".>")
	if err != nil {
		return err
	}
	newest := l.newest(list)
	for _, o := range list {
		snapshot, old := l.mark(o.name)
		old = old && older(snapshot, newest) < 0
		if text, ok := strings.CutPrefix(o.name, l.objects(commitObjects)); ok {
			var seq uint64
			n, _ := fmt.Sscanf(text, "%d-", &seq)
			old = n == 1 && seq < m.Seq
		}
		if !old {
			continue
		}
		if err := b.remove(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// bucket is the stream in which NATS keeps the objects of a stream.
type bucket struct {
	jetstream.Stream
	js    jetstream.JetStream
	name  string
	piece int    // bytes of a text in one message
	each  uint64 // after how many commits a log gets a new snapshot
}

// maxPiece is the largest piece of an object, in bytes.
const maxPiece = 512 << 10

func (s *Stream) objects(ctx context.Context) (*bucket, error) {
	d, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	each, _ := strconv.ParseUint(d.stream.CachedInfo().Config.Metadata[eachKey], 10, 64) // mostly it says nothing
	b := &bucket{js: d.js, name: s.bucket(), piece: int(min(d.nc.MaxPayload()/2, maxPiece)), each: cmp.Or(each, snapshotEach)}
	b.Stream, err = d.js.Stream(ctx, "OBJ_"+b.name)
	return b, s.explain(err)
}

// Put stores a text under a name that is the same for the same text.
func (s *Stream) Put(ctx context.Context, name string, text []byte) error {
	b, err := s.objects(ctx)
	if err != nil {
		return err
	}
	return s.explain(b.put(ctx, name, text))
}

// Fetch returns a text that some machine stored.
func (s *Stream) Fetch(ctx context.Context, name string) ([]byte, error) {
	b, err := s.objects(ctx)
	if err != nil {
		return nil, err
	}
	text, err := b.read(ctx, name)
	return text, s.explain(err)
}

// The subjects of an object: its pieces, and the message with its name.
func (b *bucket) chunks(id string) string    { return "$O." + b.name + ".C." + id }
func (b *bucket) meta(encoded string) string { return "$O." + b.name + ".M." + encoded }

// stored is the pieces of an object, or its name: then it is whole.
type stored struct {
	name, subject string
	whole         bool
}

// list returns what is stored under some subjects. One request says it all.
func (b *bucket) list(ctx context.Context, subjects string) (list []stored, err error) {
	info, err := b.Info(ctx, jetstream.WithSubjectFilter(subjects))
	if err != nil {
		return nil, err
	}
	for subject := range info.State.Subjects {
		token, whole := strings.CutPrefix(subject, b.meta(""))
		text, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(token, b.chunks("")))
		if name := string(text); err == nil && whole {
			list = append(list, stored{name, subject, true})
		} else if err == nil {
			list = append(list, stored{path.Dir(name), subject, false})
		}
	}
	return list, nil
}

// info is what the message with the name says. ErrGone means that there is no such object.
func (b *bucket) info(ctx context.Context, name string) (o jetstream.ObjectInfo, err error) {
	m, err := b.GetLastMsgForSubject(ctx, b.meta(base64.URLEncoding.EncodeToString([]byte(name))))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = fmt.Errorf("%w: %s", journal.ErrGone, name)
	}
	if err == nil {
		err = json.Unmarshal(m.Data, &o)
	}
	return o, err
}

// read returns an object piece by piece, each in the time of a request.
func (b *bucket) read(ctx context.Context, name string) ([]byte, error) {
	o, err := b.info(ctx, name)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, min(o.Size, 1<<20)) // the size is what somebody wrote; memory is taken as pieces come
	for seq := uint64(1); uint64(len(text)) < o.Size; seq++ {
		m, err := b.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(b.chunks(o.NUID)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil, fmt.Errorf("%w: %s", journal.ErrGone, name)
		}
		if err != nil {
			return nil, err
		}
		text, seq = append(text, m.Data...), m.Sequence
	}
	if digest(text) != o.Digest {
		return nil, fmt.Errorf("%w: a part of %s", journal.ErrGone, name)
	}
	return text, nil
}

func digest(text []byte) string {
	sum := sha256.New()
	sum.Write(text)
	return jetstream.GetObjectDigestValue(sum)
}

// remove takes an object off the server's disk: its pieces first, so that a removal that was
// interrupted can be finished.
func (b *bucket) remove(ctx context.Context, s stored) error {
	o, err := b.info(ctx, s.name)
	if err == nil {
		err = b.clear(ctx, b.chunks(o.NUID))
	}
	if err != nil && !errors.Is(err, journal.ErrGone) {
		return err
	}
	return b.clear(ctx, s.subject)
}

// clear writes over all messages of a subject.
func (b *bucket) clear(ctx context.Context, subject string) error {
	for seq := uint64(1); ; seq++ {
		m, err := b.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err == nil {
			seq, err = m.Sequence, overwrite(ctx, b, m.Sequence)
		}
		if err != nil {
			return err
		}
	}
}

// put stores a text under a name, unless it is there.
func (b *bucket) put(ctx context.Context, name string, text []byte) error {
	there, err := b.read(ctx, name)
	if err == nil && bytes.Equal(there, text) || err != nil && !errors.Is(err, journal.ErrGone) {
		return err
	}
	o := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name}, Bucket: b.name, ModTime: time.Now().UTC(), Size: uint64(len(text)), Digest: digest(text),
		NUID: base64.URLEncoding.EncodeToString([]byte(name + "/" + rand.Text())), // two machines may store the same file
	}
	for piece := range slices.Chunk(text, b.piece) {
		if _, err := b.js.Publish(ctx, b.chunks(o.NUID), piece); err != nil {
			return err
		}
		o.Chunks++
	}
	last := nats.NewMsg(b.meta(base64.URLEncoding.EncodeToString([]byte(name))))
	last.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject) // in the place of an object that lost pieces
	if last.Data, err = json.Marshal(o); err == nil {
		_, err = b.js.PublishMsg(ctx, last)
	}
	return err
}
