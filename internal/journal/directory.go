package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// directory is where the files of a log are: their names, whether the directory is there, and
// which copies replace which files. It does not know what they contain.
type directory struct {
	files // of the directory that is open; root is nil until there is one
	path  string
	o     *Options
	names names
}

// names are the files' names.
type names struct {
	snapshot, snapshotPrev, snapshotNew string
	fetched                             string
	journal, journalPrev, journalNew    string
	head, doubt                         string
	lock, compactLock, torn             string
}

func namesOf(stem string) names {
	s, j := stem+".json", stem+".journal"
	return names{
		snapshot: s, snapshotPrev: s + ".prev", snapshotNew: s + ".new", fetched: s + ".fetched",
		journal: j, journalPrev: j + ".prev", journalNew: j + ".new",
		head: stem + ".head", doubt: stem + ".doubt", lock: stem + ".lock", compactLock: stem + ".compact.lock", torn: j + ".torn",
	}
}

// What is between a file's name and the time when it was set aside.
const (
	corruptMark = ".corrupt-"
	rescuedMark = ".rescued-"
)

func (d *directory) errorf(name string, kind error, format string, args ...any) error {
	return pathError(d.path, name, kind, format, args...)
}

// attach opens the directory. If there is none, create says whether to make it; otherwise root
// stays nil. changed reports whether another directory is open now.
func (d *directory) attach(create bool) (changed bool, err error) {
	if d.root != nil && d.attached() {
		return false, nil
	}
	changed = d.root != nil
	d.detach()
	if create {
		if err := makeDir(d.path); err != nil {
			return changed, err
		}
	}
	root, err := os.OpenRoot(d.path)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return changed, nil
	}
	if err != nil {
		return changed, err
	}
	d.files = files{root, d.o.Fault}
	return true, nil
}

// attached reports whether the directory that is open is still the one of that
// name, and was not removed and made again.
func (d *directory) attached() bool {
	named, err := os.Stat(d.path)
	if err != nil {
		return false
	}
	own, err := d.root.Stat(".")
	return err == nil && os.SameFile(named, own)
}

func (d *directory) detach() {
	if d.root != nil {
		_ = d.root.Close()
	}
	d.files = files{}
}

// size of a file, 0 if there is none.
func (d *directory) size(name string) int64 {
	fi, err := d.stat(name)
	if err != nil {
		return 0
	}
	return fi.Size()
}

// unusedName is a name for a file that is set aside now.
func (d *directory) unusedName(start, end string) (string, error) {
	start += d.o.Now().UTC().Format("20060102T150405.000000000Z")
	for i := 0; ; i++ {
		name := start + end
		if i > 0 {
			name = fmt.Sprintf("%s-%d%s", start, i, end)
		}
		if _, err := d.stat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
}

// listAside lists the files that were set aside: torn writes, damaged files, rescued states.
func (d *directory) listAside() ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		if name == d.names.torn || strings.HasPrefix(name, d.names.journal+corruptMark) ||
			strings.HasPrefix(name, d.names.snapshot+corruptMark) || strings.HasPrefix(name, d.names.snapshot+rescuedMark) {
			found = append(found, name)
		}
	}
	return found, nil
}

// keepPrev gives a file its .prev name too, if there is such a file.
func (d *directory) keepPrev(name, prev string) error {
	if _, err := d.stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.remove(prev); err != nil {
		return err
	}
	return d.linkOrRename(name, prev)
}

// switchSnapshot keeps S and J under their .prev names and then lets S.new be S.
func (d *directory) switchSnapshot() error {
	if err := d.keepPrev(d.names.snapshot, d.names.snapshotPrev); err != nil {
		return err
	}
	if err := d.keepPrev(d.names.journal, d.names.journalPrev); err != nil {
		return err
	}
	if err := d.sync(); err != nil { // S.prev must be there before S is another one
		return err
	}
	// No sync before J is switched too: if a power cut keeps only this rename,
	// S, J.prev and J are still complete.
	return d.rename(d.names.snapshotNew, d.names.snapshot)
}

// secondCopy writes a copy of the current snapshot as S.prev, under the name temporary first. It
// removes J.prev, which belonged to the previous S.prev.
func (d *directory) secondCopy(temporary string, snapshot []byte) error {
	if err := d.write(temporary, snapshot); err != nil {
		return err
	}
	if err := d.rename(temporary, d.names.snapshotPrev); err != nil {
		return err
	}
	if err := d.sync(); err != nil { // what was S.prev needs J.prev, which goes next
		return err
	}
	if err := d.remove(d.names.journalPrev); err != nil {
		return err
	}
	return d.sync()
}

// purge removes what is not the current state. S.prev becomes a copy of S, so
// that damage to one snapshot is still no loss. last is the last commit.
func (d *directory) purge(last uint64) error {
	data, err := d.read(d.names.snapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := d.secondCopy(d.names.snapshotNew, data); err != nil {
		return err
	}
	gone, err := d.listAside()
	if err != nil {
		return err
	}
	if doubts, _ := d.read(d.names.doubt); len(after(scan(doubts, 0).lines, last)) == 0 {
		gone = append(gone, d.names.doubt) // their numbers are taken; what is in the log may have been erased
	}
	for _, name := range append(gone, d.names.fetched, d.names.journalNew) {
		if err := d.remove(name); err != nil {
			return err
		}
	}
	return d.sync() // what is gone must not come back after a power cut
}

// readWitness returns the zero witness when there is none.
func (d *directory) readWitness() witness {
	text, _ := d.read(d.names.head) // one that cannot be read is no witness
	return parseWitness(text)
}

// writeWitness notes the last acknowledged commit. It does not sync and ignores
// errors: an older witness is true as well.
func (d *directory) writeWitness(w witness) {
	f, err := files{root: d.root}.open(d.names.head, os.O_RDWR|os.O_CREATE) // tests do not count it as an operation
	if err == nil {
		_, _ = f.WriteAt(w.text(), 0)
		_ = f.Close()
	}
}
