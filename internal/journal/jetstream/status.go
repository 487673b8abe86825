package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Status is what the server says of a stream.
type Status struct {
	Version  string        // the server's
	Format   string        // the stream's
	RTT      time.Duration // there and back
	Now      time.Time     // by the server's clock, as all times here
	Ahead    time.Duration // this machine's clock before the server's
	Messages uint64
	Bytes    uint64 // of the messages
	Objects  uint64 // bytes of snapshots, large commits and shared files
	MaxBytes int64  // the stream's limit; -1: none
	Last     uint64 // sequence of the last message
	LastAt   time.Time
	LastBy   string // the machine that wrote it

	Replicas int
	Current  int // how many of them have everything
	Machines []Machine
}

// Machine is a machine of a team, as it reported itself.
type Machine struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`   // when
	Last uint64    `json:"last"` // the last message of the stream that it had
}

// Status asks the server.
func (s *Stream) Status(ctx context.Context) (Status, error) {
	d, err := s.connected(ctx)
	if err != nil {
		return Status{}, err
	}
	info, err := d.stream.Info(ctx)
	if err != nil {
		return Status{}, s.explain(err)
	}
	st := Status{
		Version: d.nc.ConnectedServerVersion(), Format: info.Config.Metadata[formatKey], Now: info.TimeStamp, Ahead: s.o.Now().Sub(info.TimeStamp),
		Messages: info.State.Msgs, Bytes: info.State.Bytes, MaxBytes: info.Config.MaxBytes, Last: info.State.LastSeq,
		Replicas: info.Config.Replicas, Current: 1,
	}
	if st.RTT, err = d.nc.RTT(); err != nil {
		return st, s.explain(err)
	}
	if info.Cluster != nil {
		for _, r := range info.Cluster.Replicas {
			if r.Current && !r.Offline {
				st.Current++
			}
		}
	}
	if m, err := d.stream.GetMsg(ctx, info.State.LastSeq); err == nil {
		st.LastAt, st.LastBy = m.Time, m.Header.Get(machineHeader)
	}
	if o, err := d.js.Stream(ctx, "OBJ_"+s.bucket()); err == nil {
		st.Objects = o.CachedInfo().State.Bytes
	}
	st.Machines, err = s.machines(ctx, d)
	return st, err
}

// reportInterval is how often a machine whose server follows the stream reports to the others what it has.
const reportInterval = time.Minute

// catchUp runs do, which fetches, and then reports to the others, if that is due. What could not
// be fetched is not reported.
func (s *Stream) catchUp(ctx context.Context, do func() error) {
	due := s.reported.Load()
	if now := s.o.Now().UnixNano(); now-due < int64(reportInterval) || !s.reported.CompareAndSwap(due, now) {
		_ = do() // it has warned of its error
		return
	}
	var last uint64
	d, err := s.connected(ctx)
	if err == nil {
		var info *jetstream.StreamInfo
		if info, err = d.stream.Info(ctx); err == nil {
			last = info.State.LastSeq
		}
	}
	if fetched := do(); err != nil || fetched != nil {
		s.reported.Store(due)
		return
	}
	_ = s.Report(ctx, last) // the next one repeats it
}

// Report writes for the others what this machine has: the messages up to last.
func (s *Stream) Report(ctx context.Context, last uint64) error {
	d, err := s.connected(ctx)
	if err != nil {
		return err
	}
	kv, err := d.js.KeyValue(ctx, s.bucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = d.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: s.bucket(), Replicas: d.stream.CachedInfo().Config.Replicas})
	}
	if err != nil {
		return s.explain(err)
	}
	text, err := json.Marshal(Machine{s.o.Machine, s.o.Now().UTC(), last})
	if err == nil {
		_, err = kv.Put(ctx, s.o.Machine, text)
	}
	return s.explain(err)
}

func (s *Stream) machines(ctx context.Context, d *dial) (list []Machine, err error) {
	kv, err := d.js.KeyValue(ctx, s.bucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explain(err)
	}
	keys, err := kv.Keys(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, s.explain(err)
	}
	for _, k := range keys {
		var m Machine
		if e, err := kv.Get(ctx, k); err == nil && json.Unmarshal(e.Value(), &m) == nil {
			m.At = e.Created()
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b Machine) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
