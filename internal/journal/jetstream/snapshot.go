package jetstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
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

func (l *Log) name() string { return strings.TrimPrefix(l.subject, l.s.subject("")) }

// What the names of objects begin with; a name of another form is a shared file's.
const (
	uploadObjects   = "upload/"
	snapshotObjects = "snapshot/"
	commitObjects   = "commit/"
)

// objects is what the names of this log's texts begin with.
func (l *Log) objects(kind string) string { return kind + l.name() + "/" }

// mark returns the mark that is an object's name.
func (l *Log) mark(kind, name string) (m journal.Mark, ok bool) {
	text, ok := strings.CutPrefix(name, l.objects(kind))
	n, _ := fmt.Sscanf(text, "%d-%d-%d-", &m.Seq, &m.Place, &m.Size)
	m.Name = name
	return m, ok && n == 3
}

// newest picks the newest snapshot of this log.
func (l *Log) newest(names []string) (newest journal.Mark) {
	for _, name := range names {
		if m, ok := l.mark(snapshotObjects, name); ok && cmp.Or(cmp.Compare(m.Seq, newest.Seq), cmp.Compare(m.Name, newest.Name)) > 0 {
			newest = m
		}
	}
	return newest
}

// Newest is [journal.Remote.Newest].
func (l *Log) Newest(ctx context.Context) (m journal.Mark, each uint64, err error) {
	b, err := l.s.objects(ctx)
	if err != nil {
		return m, 0, err
	}
	names, err := b.names(ctx)
	return l.newest(names), b.each, l.s.explain(err)
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
	name := fmt.Sprintf("%d-%d-%d-%s", m.Seq, m.Place, m.Size, rand.Text())
	upload := l.objects(uploadObjects) + name
	stored, err := b.put(ctx, upload, text)
	if err != nil {
		return m, l.s.explain(err)
	}
	stored.Name = l.objects(snapshotObjects) + name
	err = b.UpdateMeta(ctx, upload, jetstream.ObjectMeta{Name: stored.Name})
	if errors.Is(err, jetstream.ErrUpdateMetaDeleted) { // a newer snapshot has swept it away
		return m, journal.ErrConflict
	}
	if err != nil {
		return m, l.s.explain(err)
	}
	newest, _, err := l.Newest(ctx)
	if err == nil && newest.Seq > m.Seq { // a text that is late may hold what was erased meanwhile
		err = l.s.explain(b.remove(ctx, stored))
	}
	return l.newest([]string{newest.Name, stored.Name}), err // the server may have been set back meanwhile, and say an older one
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
	names, list, err := b.list(ctx)
	if err != nil {
		return err
	}
	newest := l.newest(names)
	for _, o := range list {
		_, old := l.mark(snapshotObjects, o.Name)
		old = old && o.Name != newest.Name
		if m, ok := l.mark(uploadObjects, o.Name); ok {
			old = m.Seq < newest.Seq
		}
		if text, ok := strings.CutPrefix(o.Name, l.objects(commitObjects)); ok {
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
	if len(list) < len(names) { // else pieces of what has another name now could seem to be nobody's
		return nil
	}
	return b.sweep(ctx, list, b.stream.CachedInfo().TimeStamp)
}

// bucket is the object store of a stream, and the stream in which NATS keeps it.
type bucket struct {
	jetstream.ObjectStore
	name   string
	stream jetstream.Stream
	piece  uint32 // bytes of a text in one message
	each   uint64 // after how many commits a log gets a new snapshot
}

// snapshotEach is after how many commits a new snapshot is worth it, unless the stream says
// otherwise.
const snapshotEach = 4096

// pieceMost is the largest piece.
const pieceMost = 512 << 10

func (s *Stream) objects(ctx context.Context) (*bucket, error) {
	d, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	each, _ := strconv.ParseUint(d.stream.CachedInfo().Config.Metadata[eachKey], 10, 64) // mostly it says nothing
	b := &bucket{name: s.bucket(), piece: uint32(min(d.nc.MaxPayload()/2, pieceMost)), each: cmp.Or(each, snapshotEach)}
	if b.ObjectStore, err = d.js.ObjectStore(ctx, b.name); err == nil {
		b.stream, err = d.js.Stream(ctx, "OBJ_"+b.name)
	}
	return b, s.explain(err)
}

// Put stores a text under a name that is the same for the same text.
func (s *Stream) Put(ctx context.Context, name string, text []byte) error {
	b, err := s.objects(ctx)
	if err != nil {
		return err
	}
	_, err = b.put(ctx, name, text)
	return s.explain(err)
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

// names are those of the objects. One request says them all. The client's own List waits for ever
// for what was removed meanwhile.
func (b *bucket) names(ctx context.Context) (names []string, err error) {
	info, err := b.stream.Info(ctx, jetstream.WithSubjectFilter(b.meta("*")))
	if err != nil {
		return nil, err
	}
	for subject := range info.State.Subjects {
		name, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(subject, b.meta("")))
		if err == nil {
			names = append(names, string(name))
		}
	}
	return names, nil
}

// list returns the objects by their names, without those that were removed meanwhile.
func (b *bucket) list(ctx context.Context) (names []string, list []*jetstream.ObjectInfo, err error) {
	if names, err = b.names(ctx); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		o, err := b.GetInfo(ctx, name)
		if err == nil {
			list = append(list, o)
		} else if !errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil, nil, err
		}
	}
	return names, list, nil
}

func (b *bucket) chunks(nuid string) string { return "$O." + b.name + ".C." + nuid }

// meta is the subject of an object by the name that it has there.
func (b *bucket) meta(encoded string) string { return "$O." + b.name + ".M." + encoded }

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
	return b.stream.Purge(ctx, jetstream.WithPurgeSubject(b.meta(base64.URLEncoding.EncodeToString([]byte(o.Name)))))
}

// An upload that was interrupted leaves pieces that belong to no object. They are removed when they
// are older than uploadOver. An upload that took longer than maxUpload, by the server's clock,
// does not count: its pieces may be gone.
const (
	maxUpload  = 10 * time.Minute
	uploadOver = time.Hour
)

// put stores a text under a name, unless it is there. The client's own Put removes the pieces of an
// upload whose last answer was lost, but such an upload may already have become the object.
func (b *bucket) put(ctx context.Context, name string, text []byte) (*jetstream.ObjectInfo, error) {
	if there, err := b.whole(ctx, name, text); there != nil || err != nil {
		return there, err
	}
	begun, err := b.stream.Info(ctx)
	if err != nil {
		return nil, err
	}
	o := jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: b.piece}}
	stored, err := b.Put(ctx, o, strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	now, err := b.stream.Info(ctx)
	if err == nil && now.TimeStamp.Sub(begun.TimeStamp) > maxUpload {
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
