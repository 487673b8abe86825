package knowledge

import (
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/sourcefile"
	"leanctx/knowledge/state"
)

// SourceState reports whether the project's files that stand behind a version are what
// they were when it was last asserted: empty, changed or gone. Gone weighs more. A
// version without files, or one that has ended, has none. Nor has one that only the repository tells
// of: it could name any files, any number of times.
func (s *Store) SourceState(v *fact.Version, now time.Time) string {
	if v.TakenIn || !fact.Believed(v) || !fact.Before(now, v.ValidUntil) {
		return ""
	}
	worst := sourcefile.Same
	for _, was := range fact.Files(v) {
		switch s.files.Compare(was) {
		case sourcefile.Gone:
			return string(sourcefile.Gone)
		case sourcefile.Changed:
			worst = sourcefile.Changed
		}
	}
	return string(worst)
}

// backed reports whether the files behind a version are what they were.
func backed(f state.Facts, v *fact.Version) bool {
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
func reread(f state.Facts, v *fact.Version) (files []formats.FileState) {
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
