package knowledge

import (
	"slices"
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

// Relative is a source with the paths of the project in it as they are kept: see [sourcefile.Files.Relative].
func (s *Store) Relative(ref string) string { return s.files.Relative(ref) }

// Located is a version whose sources are as they are kept now. A former version of the program left
// absolute paths in them.
func (s *Store) Located(v *fact.Version) *fact.Version {
	changed := false
	for i, x := range v.Sources {
		if ref := s.Relative(x.Ref); ref != x.Ref {
			if !changed {
				w := *v
				w.Sources = slices.Clone(v.Sources)
				v, changed = &w, true
			}
			v.Sources[i].Ref = ref
		}
	}
	return v
}

// LocatedDispute is [Store.Located] for a dispute.
func (s *Store) LocatedDispute(d formats.Dispute) formats.Dispute {
	d.Source.Ref = s.Relative(d.Source.Ref)
	if d.Settled != nil {
		x := *d.Settled
		x.Ref = s.Relative(x.Ref)
		d.Settled = &x
	}
	return d
}
