package jetstream

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/journal"
)

// Snapshots of a log
//
// The text of a snapshot is an object named snapshot/<log>/<seq>-<place>-<bytes>-<random>, which is
// its mark. The newest is that of the latest commit; of two of one commit it is the later one by
// name, so that every machine keeps the same. It is uploaded as upload/<log>/… and gets its name
// when it is whole: an upload whose last answer is lost may be an object that lacks pieces. No name
// is used twice. What is removed is of an earlier commit than the newest, or an older one of the
// same commit. So nothing is taken from a machine that stores what may become the newest.

// snapshotEach is after how many commits a new snapshot is worth it, unless the stream says
// otherwise.
const snapshotEach = 4096

func (l *Log) key() string { return snapshotKeys + l.name() }

// snapshotKeys begins the keys of marks; the others are machines'.
const snapshotKeys = "snapshot."

// name is that of the log in its stream.
func (l *Log) name() string { return strings.TrimPrefix(l.subject, l.s.subject("")) }

// Newest is [journal.Remote.Newest].
func (l *Log) Newest(ctx context.Context) (m journal.Mark, each uint64, err error) {
	d, err := l.s.connected(ctx)
	if err != nil {
		return m, 0, err
	}
	c := d.stream.CachedInfo().Config
	if n, _ := strconv.Atoi(c.Metadata[formatKey]); n < trimmedFormat {
		return m, 0, nil // an older program made it
	}
	if each, _ = strconv.ParseUint(c.Metadata[eachKey], 10, 64); each == 0 {
		each = snapshotEach
	}
	if c.DenyPurge || c.DenyDelete { // somebody has changed it
		each = 0
	}
	kv, err := d.js.KeyValue(ctx, l.s.bucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return m, each, nil
	}
	if err != nil {
		return m, each, l.s.explain(err)
	}
	e, err := kv.Get(ctx, l.key())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return m, each, nil
	}
	if err != nil {
		return m, each, l.s.explain(err)
	}
	if err := json.Unmarshal(e.Value(), &m); err != nil {
		return m, each, fmt.Errorf("%s: %w: the key %s is no mark: %w", l.s.Where(), journal.ErrCorrupt, l.key(), err)
	}
	m.Revision = e.Revision()
	return m, each, nil
}

// Load is [journal.Remote.Load].
func (l *Log) Load(ctx context.Context, m journal.Mark) ([]byte, error) {
	return l.s.Fetch(ctx, m.Name)
}

// Save is [journal.Remote.Save].
func (l *Log) Save(ctx context.Context, former, m journal.Mark, text []byte) (journal.Mark, error) {
	d, err := l.s.connected(ctx)
	if err != nil {
		return former, err
	}
	m.Name = l.object(snapshotObjects, m.Seq)
	b, err := l.s.objects(ctx, d)
	if err != nil {
		return former, l.s.explain(err)
	}
	stored, err := b.put(ctx, m.Name, text, pieceSize(d))
	if err != nil {
		return former, l.s.explain(err)
	}
	mark, err := json.Marshal(m)
	if err != nil {
		return former, err
	}
	kv, err := l.s.keys(ctx, d)
	if err != nil {
		return former, err
	}
	if former.Revision == 0 {
		m.Revision, err = kv.Create(ctx, l.key(), mark)
	} else {
		m.Revision, err = kv.Update(ctx, l.key(), mark, former.Revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) || isCode(err, jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		// The text has no mark and never will. It may hold what was erased meanwhile.
		return former, errors.Join(journal.ErrConflict, b.remove(ctx, stored))
	}
	if err != nil {
		return former, l.s.explain(err)
	}
	return m, nil
}

// What the names of objects begin with; a name of another form is a shared file's, or a commit's of
// a stream that keeps all.
const (
	snapshotObjects = "snapshot/"
	commitObjects   = "commit/"
)

// object names a text of this log.
func (l *Log) object(kind string, seq uint64) string {
	return fmt.Sprintf("%s%s/%d-%s", kind, l.name(), seq, rand.Text())
}

// objectSeq is the commit that an object of this log is about.
func (l *Log) objectSeq(kind, name string) (seq uint64, ok bool) {
	text, ok := strings.CutPrefix(name, kind+l.name()+"/")
	number, _, sum := strings.Cut(text, "-")
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, ok && sum && err == nil
}

// Trim is [journal.Remote.Trim].
func (l *Log) Trim(ctx context.Context, m journal.Mark) error {
	d, err := l.s.connected(ctx)
	if err != nil {
		return err
	}
	if err := l.confirm(ctx, d, m); err != nil {
		return err
	}
	if err := d.stream.Purge(ctx, jetstream.WithPurgeSubject(l.subject), jetstream.WithPurgeSequence(m.Place)); err != nil {
		return l.s.explain(err)
	}
	return l.s.explain(l.sweep(ctx, d, m))
}

// confirm makes sure, right before commits are taken out, that the server has the snapshot. Its disk
// may have been set back since the snapshot was stored.
func (l *Log) confirm(ctx context.Context, d *dial, m journal.Mark) error {
	on := d.connection()
	b, err := l.s.objects(ctx, d)
	if err != nil {
		return l.s.explain(err)
	}
	return l.s.settled(ctx, func() error {
		_, err := b.GetInfo(ctx, m.Name)
		now, _, failed := l.Newest(ctx)
		switch {
		case failed != nil:
			return failed
		case d.connection() != on:
			return fmt.Errorf("%s: %w: the connection was lost", l.s.Where(), journal.ErrConflict)
		case err == nil && now == m || now.Seq > m.Seq:
			return nil // another machine may have made a newer one
		}
		return fmt.Errorf("%s: %w: snapshot %s is not the newest", l.s.Where(), journal.ErrConflict, m.Name)
	})
}

// errEnough ends a walk over messages.
var errEnough = errors.New("enough")

// Expunge is [journal.Remote.Expunge]. A large commit goes in any case: its object does.
func (l *Log) Expunge(ctx context.Context, m journal.Mark, holds func(commit []byte) bool) error {
	d, err := l.s.connected(ctx)
	if err != nil {
		return err
	}
	var places []uint64
	err = l.span(ctx, d, 1, m.Place, func(at uint64, h nats.Header, commit []byte) error {
		if at >= m.Place {
			return errEnough
		}
		if h.Get(objectHeader) != "" || holds == nil || holds(commit) {
			places = append(places, at)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if err := l.confirm(ctx, d, m); err != nil {
		return err
	}
	for _, at := range places {
		if err := overwrite(ctx, d.stream, at); err != nil {
			return l.s.explain(err)
		}
	}
	return l.s.explain(l.sweep(ctx, d, m))
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

// sweep removes the objects of this log that the newest snapshot makes needless.
func (l *Log) sweep(ctx context.Context, d *dial, m journal.Mark) error {
	b, err := l.s.objects(ctx, d)
	if err != nil {
		return err
	}
	list, err := b.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return err
	}
	for _, o := range list {
		old, isOld := l.objectSeq(snapshotObjects, o.Name)
		commit, isCommit := l.objectSeq(commitObjects, o.Name)
		if isOld && old <= m.Seq && o.Name != m.Name || isCommit && commit < m.Seq {
			if err := b.remove(ctx, o); err != nil {
				return err
			}
		}
	}
	return b.sweep(ctx, list, b.stream.CachedInfo().TimeStamp)
}

// bucket is the object store of a stream, and the stream in which NATS keeps it.
type bucket struct {
	jetstream.ObjectStore
	name   string
	stream jetstream.Stream
}

func (s *Stream) objects(ctx context.Context, d *dial) (*bucket, error) {
	b := &bucket{name: s.bucket()}
	var err error
	if b.ObjectStore, err = d.js.ObjectStore(ctx, b.name); err != nil {
		return nil, err
	}
	b.stream, err = d.js.Stream(ctx, "OBJ_"+b.name)
	return b, err
}

func (b *bucket) chunks(nuid string) string { return "$O." + b.name + ".C." + nuid }

func (b *bucket) meta(name string) string {
	return "$O." + b.name + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// read returns an object piece by piece, each in the time of a request: the client's own Get waits
// for ever for what was removed meanwhile.
func (b *bucket) read(ctx context.Context, name string) ([]byte, error) {
	o, err := b.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, fmt.Errorf("%w: %s", journal.ErrGone, name)
	}
	if err != nil {
		return nil, err
	}
	text, sum := make([]byte, 0, o.Size), sha256.New()
	for seq := uint64(1); uint64(len(text)) < o.Size; seq++ {
		m, err := b.stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(b.chunks(o.NUID)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil, fmt.Errorf("%w: %s", journal.ErrGone, name)
		}
		if err != nil {
			return nil, err
		}
		text, seq = append(text, m.Data...), m.Sequence
	}
	sum.Write(text)
	if jetstream.GetObjectDigestValue(sum) != o.Digest {
		return nil, fmt.Errorf("%w: a part of %s", journal.ErrGone, name)
	}
	return text, nil
}

// remove takes an object off the server's disk: its pieces first, so that a removal that was
// interrupted can be finished.
func (b *bucket) remove(ctx context.Context, o *jetstream.ObjectInfo) error {
	for seq := uint64(1); ; seq++ {
		m, err := b.stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(b.chunks(o.NUID)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return err
		}
		if err := overwrite(ctx, b.stream, m.Sequence); err != nil {
			return err
		}
		seq = m.Sequence
	}
	return b.stream.Purge(ctx, jetstream.WithPurgeSubject(b.meta(o.Name)))
}

// An upload that was interrupted leaves pieces that belong to no object. They are removed when they
// are older than uploadOver. An upload that took longer than maxUpload, by the server's clock,
// does not count: its pieces may be gone.
const (
	uploadMost = 10 * time.Minute
	uploadOver = time.Hour
)

// put stores a text under a name, unless it is there. The client's own Put removes the pieces of an
// upload whose last answer was lost, but such an upload may already have become the object.
func (b *bucket) put(ctx context.Context, name string, text []byte, piece uint32) (*jetstream.ObjectInfo, error) {
	if there, err := b.whole(ctx, name, text); there != nil || err != nil {
		return there, err
	}
	begun, err := b.stream.Info(ctx)
	if err != nil {
		return nil, err
	}
	o := jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: piece}}
	stored, err := b.Put(ctx, o, strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	now, err := b.stream.Info(ctx)
	if err == nil && now.TimeStamp.Sub(begun.TimeStamp) > uploadMost {
		err = fmt.Errorf("the upload of %s took %s; try again", name, now.TimeStamp.Sub(begun.TimeStamp).Round(time.Second))
	}
	return stored, err
}

// whole returns an object that is this text, if all its pieces are there, else nil.
func (b *bucket) whole(ctx context.Context, name string, text []byte) (*jetstream.ObjectInfo, error) {
	o, err := b.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	sum.Write(text)
	if o.Digest != jetstream.GetObjectDigestValue(sum) {
		return nil, nil
	}
	info, err := b.stream.Info(ctx, jetstream.WithSubjectFilter(b.chunks(o.NUID)))
	if err != nil || info.State.Subjects[b.chunks(o.NUID)] != uint64(o.Chunks) {
		return nil, err
	}
	return o, nil
}

// sweep removes the pieces that belong to none of the objects. now is the server's time, not later
// than the list of all objects.
func (b *bucket) sweep(ctx context.Context, all []*jetstream.ObjectInfo, now time.Time) error {
	info, err := b.stream.Info(ctx, jetstream.WithSubjectFilter(b.chunks("*")))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		if slices.ContainsFunc(all, func(o *jetstream.ObjectInfo) bool { return b.chunks(o.NUID) == subject }) {
			continue
		}
		m, err := b.stream.GetLastMsgForSubject(ctx, subject)
		if err != nil || now.Sub(m.Time) < uploadOver {
			continue
		}
		// The list of objects is older than that of the pieces. An upload that ended in between
		// took longer than maxUpload, or its last piece would be newer.
		if err := b.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return nil
}
