package knowledge

import (
	"context"
	"errors"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/sourcefile"
	"leanctx/knowledge/state"
)

// SourceState tells whether the project's files that stand behind a version are what
// they were when it was last asserted: empty, changed or gone. Gone weighs more. A
// version without files, or one that has ended, has none.
func (s *Store) SourceState(v *fact.Version, now time.Time) string {
	if !fact.Believed(v) || !fact.Before(now, v.ValidUntil) {
		return ""
	}
	worst := sourcefile.Same
	for _, was := range fact.Files(v) {
		switch s.files.Standing(was) {
		case sourcefile.Gone:
			return string(sourcefile.Gone)
		case sourcefile.Changed:
			worst = sourcefile.Changed
		}
	}
	return string(worst)
}

// sourceFiles are the files that a decision knows. A decision reads no file: one
// that asks for a file which is not known ends without a commit. Then the file is
// looked at, without the lock, and the decision is made anew.
type sourceFiles struct {
	known   map[string]fileNow
	missing []formats.FileState
}

type fileNow struct {
	state formats.FileState
	there bool
}

var errFileUnknown = errors.New("a file behind a fact was not looked at yet")

// now is the file of was as it is known. It is [state.Known]'s Files.
func (f *sourceFiles) now(was formats.FileState) (formats.FileState, bool) {
	x, ok := f.known[was.Ref+"\x00"+was.Checksum]
	if !ok {
		f.missing = append(f.missing, was)
	}
	return x.state, x.there
}

// decided is what decide returned, unless it asked for a file that is not known.
func (f *sourceFiles) decided(events []state.Event, err error) ([]state.Event, error) {
	if len(f.missing) > 0 {
		return nil, errFileUnknown
	}
	return events, err
}

// withFiles runs commit until its decision knows every file that it asks for.
func (s *Store) withFiles(ctx context.Context, commit func(*sourceFiles) error) error {
	f := &sourceFiles{known: map[string]fileNow{}}
	for {
		err := commit(f)
		if !errors.Is(err, errFileUnknown) || ctx.Err() != nil {
			return err
		}
		for _, was := range f.missing {
			now, there := s.files.Now(was)
			f.known[was.Ref+"\x00"+was.Checksum] = fileNow{now, there}
		}
		f.missing = nil
	}
}

// backed reports whether the files behind a version are what they were.
func backed(f state.Claims, v *fact.Version) bool {
	files := fact.Files(v)
	for _, was := range files {
		if now, there := f.FileNow(was); !there || now.Checksum != was.Checksum {
			return false
		}
	}
	return len(files) > 0
}

// reread are the files behind a version as they are now, for an assertion that
// confirms it and names none. It is nil where they are what they were.
func reread(f state.Claims, v *fact.Version) (files []formats.FileState) {
	same := true
	for _, was := range fact.Files(v) {
		now, there := f.FileNow(was)
		same = same && there && now.Checksum == was.Checksum && now.Modified.Equal(was.Modified)
		if there && now.Checksum != "" {
			files = append(files, now)
		}
	}
	if same {
		return nil
	}
	return files
}
