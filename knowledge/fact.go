package knowledge

import (
	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Source says who made one assertion of a fact, when and with what evidence.
type Source = formats.Source

// Name is the category and key that a fact goes by, as written.
type Name = formats.Name

// The kinds of a [Source].
const (
	KindUser   = "user"
	KindAgent  = "agent"
	KindTool   = "tool"
	KindImport = "import"
)

// The privacy of a fact. Any other value is kept and read as shared.
const (
	PrivacyShared      = "shared"
	PrivacyProjectOnly = "project_only"
)

// Outcome says what an assertion turned out to be.
type Outcome string

// The outcomes of [Store.Remember].
const (
	Created    Outcome = "created"    // nothing was believed under this name
	Confirmed  Outcome = "confirmed"  // the value was believed already
	Superseded Outcome = "superseded" // the world changed: another value was true until now
	Corrected  Outcome = "corrected"  // we were wrong: another value never was true
	Backdated  Outcome = "backdated"  // true for a period that is over, or before what is current
	Planned    Outcome = "planned"    // true only in the future
)

// unconfirmed reports whether v is known only from an import.
func unconfirmed(v *fact.Version) bool {
	for _, s := range v.Sources {
		if s.Kind != KindImport {
			return false
		}
	}
	return len(v.Sources) > 0
}
