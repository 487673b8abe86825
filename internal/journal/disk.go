package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// disk is the files of a log: all that has to do with bytes and nothing that
// has to do with states and events.
type disk struct {
	dir     string
	o       *Options
	n       names
	root    *os.Root // nil until the directory is there
	fs      files    // on root
	lock    fileLock // for writing the journal and switching files
	compact fileLock // for writing the next snapshot
	j       file     // the journal that pos is in; nil when there is none
	info    fs.FileInfo
	mine    bool // j is open for writing
	untidy  bool // a reader found something that a writer has to repair
	pos     position
	offer   func(f file, size int64, h Header) bool // see Partial; nil: read all of a snapshot
	partial file                                    // the snapshot that a partial state reads from
	note    func(Warning)
	doubt   *doubt // set when a write of ours is in doubt
}

// names are the files' names.
type names struct {
	snapshot, snapshotPrev, snapshotNew     string
	journal, journalPrev, journalNew        string
	lock, compactLock, torn, doubt, corrupt string
}

func namesOf(stem string) names {
	s, j := stem+".json", stem+".journal"
	return names{
		snapshot: s, snapshotPrev: s + ".prev", snapshotNew: s + ".new",
		journal: j, journalPrev: j + ".prev", journalNew: j + ".new",
		lock: stem + ".lock", compactLock: stem + ".compact.lock",
		torn: j + ".torn", doubt: j + ".doubt", corrupt: ".corrupt-",
	}
}

// position is how far into the journal the state was folded.
type position struct {
	head header
	off  int64     // what is before it is folded
	mark int64     // where the last line begins
	sum  uint32    // that line's checksum
	prev uint32    // the last commit's checksum, to which the next one is chained
	seq  uint64    // the last commit
	at   time.Time // its recorded time
}

// reached is the position as a [Head].
func (p position) reached() Head {
	return Head{Seq: p.seq, At: p.at, Generation: p.head.Generation, Sum: p.prev, Repairs: p.head.Repairs, Offset: p.mark}
}

func newDisk(dir string, o *Options, note func(Warning)) *disk {
	n := namesOf(o.Name)
	return &disk{
		dir: dir, o: o, n: n, note: note,
		lock:    fileLock{dir: dir, name: n.lock},
		compact: fileLock{dir: dir, name: n.compactLock},
	}
}

func (d *disk) errorf(name string, kind error, format string, args ...any) error {
	return pathError(d.dir, name, kind, format, args...)
}

// attach opens the directory. There may be none: then fs stays nil, unless it
// is to be made.
func (d *disk) attach(create bool) error {
	if d.fs != nil && d.attached() {
		return nil
	}
	d.detach()
	if create {
		if err := makeDir(d.dir); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(d.dir)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil
	}
	if err != nil {
		return err
	}
	d.root, d.fs = root, rootFiles{root}
	if d.o.Fault != nil {
		d.fs = faultyFiles{d.fs, d.o.Fault}
	}
	return nil
}

// attached tells whether the directory that is open is still the one of that
// name, and was not removed and made anew.
func (d *disk) attached() bool {
	named, err := os.Stat(d.dir)
	if err != nil {
		return false
	}
	own, err := d.root.Stat(".")
	return err == nil && os.SameFile(named, own)
}

// detach closes the directory and the journal. The locks stay: a goroutine may
// hold them, and they see for themselves when their name stands for another file.
func (d *disk) detach() {
	d.closeJournal()
	if d.root != nil {
		_ = d.root.Close()
	}
	d.root, d.fs = nil, nil
}

func (d *disk) closeJournal() {
	if d.j != nil {
		_ = d.j.Close() // every byte that matters was synced
	}
	d.j, d.info, d.mine, d.pos = nil, nil, false, position{}
}

// size of a file, 0 if there is none.
func (d *disk) size(name string) int64 {
	fi, err := d.fs.stat(name)
	if err != nil {
		return 0
	}
	return fi.Size()
}

// setAside is the name a damaged file is kept under.
func (d *disk) setAside(name, suffix string) (string, error) {
	stamp := d.o.Now().UTC().Format("20060102T150405.000000000Z")
	for i := 0; ; i++ {
		aside := name + d.n.corrupt + stamp
		if i > 0 {
			aside = fmt.Sprintf("%s-%d", aside, i)
		}
		aside += suffix
		if _, err := d.fs.stat(aside); errors.Is(err, fs.ErrNotExist) {
			return aside, nil
		} else if err != nil {
			return "", err
		}
	}
}

// asides lists what was set aside: torn writes and damaged files.
func (d *disk) asides() ([]string, error) {
	entries, err := d.fs.list()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		corrupt := strings.HasPrefix(name, d.n.snapshot+d.n.corrupt) || strings.HasPrefix(name, d.n.journal+d.n.corrupt)
		if corrupt || name == d.n.torn {
			found = append(found, name)
		}
	}
	return found, nil
}
