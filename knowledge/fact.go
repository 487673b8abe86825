package knowledge

import (
	"leanctx/formats"
	"leanctx/knowledge/assertion"
	"leanctx/knowledge/fact"
)

// Source says who made one assertion of a fact, when and with what evidence.
type Source = formats.Source

// Name is the category and key that a fact goes by, as written.
type Name = formats.Name

// The kinds of a [Source].
const (
	KindUser   = fact.KindUser
	KindAgent  = fact.KindAgent
	KindTool   = fact.KindTool
	KindImport = fact.KindImport
)

// The privacy of a fact. Any other value is kept and read as shared.
const (
	PrivacyShared      = fact.PrivacyShared
	PrivacyProjectOnly = fact.PrivacyProjectOnly
)

// What [Store.Remember] answers with.
type (
	Remembered    = assertion.Remembered    // what became of an assertion
	Outcome       = assertion.Outcome       // what it turned out to be
	Contradiction = assertion.Contradiction // a fact changed its value
	Displacement  = assertion.Displacement  // what became of another value
	Similar       = assertion.Similar       // a fact that might say the same or the opposite
)

// The outcomes of [Store.Remember].
const (
	Created    = assertion.Created
	Confirmed  = assertion.Confirmed
	Superseded = assertion.Superseded
	Corrected  = assertion.Corrected
	Backdated  = assertion.Backdated
	Planned    = assertion.Planned
)
