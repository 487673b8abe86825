package fact

import (
	"slices"

	"leanctx/formats"
)

// The kinds of a source: who made an assertion.
const (
	KindUser   = "user"
	KindFile   = "file" // an agent that names a file of the project
	KindAgent  = "agent"
	KindTool   = "tool"
	KindImport = "import"
)

// The privacy of a fact. Any other value is kept and read as shared.
const (
	PrivacyShared      = "shared"
	PrivacyProjectOnly = "project_only"
	PrivacyLocal       = "local" // it never leaves this machine
)

// Unconfirmed reports whether v is known only from an import, or from the repository
// and was not confirmed here.
func Unconfirmed(v *Version) bool {
	if v.TakenIn {
		return true
	}
	for _, s := range v.Sources {
		if s.Kind != KindImport {
			return false
		}
	}
	return len(v.Sources) > 0
}

// Files are the project's files that stand behind v: those of the newest assertion
// that names any.
func Files(v *Version) []formats.FileState {
	for _, s := range slices.Backward(v.Sources) {
		if len(s.Files) > 0 {
			return s.Files
		}
	}
	return nil
}
