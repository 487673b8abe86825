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
	KindUser   = fact.KindUser
	KindFile   = fact.KindFile
	KindAgent  = fact.KindAgent
	KindTool   = fact.KindTool
	KindImport = fact.KindImport
)

// ToolCLI is who a command without a terminal speaks for, if nobody named an agent: a script.
const ToolCLI = "tool:cli"

// The privacy of a fact. Any other value is kept and read as shared.
const (
	PrivacyShared      = fact.PrivacyShared
	PrivacyProjectOnly = fact.PrivacyProjectOnly
	PrivacyLocal       = fact.PrivacyLocal
)

// Outcome says what an assertion turned out to be.
type Outcome string

// The outcomes of [Store.Remember].
const (
	Created    Outcome = "created"    // nothing was believed under this name
	Confirmed  Outcome = "confirmed"  // the value was believed already
	Refined    Outcome = "refined"    // the value contains the whole old one and adds to it
	Added      Outcome = "added"      // the value is true beside the others that the fact has
	Superseded Outcome = "superseded" // the world changed: another value was true until now
	Corrected  Outcome = "corrected"  // we were wrong: another value never was true
	Backdated  Outcome = "backdated"  // true for a period that is over, or before what is current
	Planned    Outcome = "planned"    // true only in the future
	Disputed   Outcome = "disputed"   // it has not the authority to replace what is believed
)
