package fact

import "leanctx/internal/prose"

// Trust says how far a value is to be trusted. Whatever tells somebody a value of a version holds the
// Trust of that version, and writes the value with [Trust.Line] or [Trust.Brief]: so no answer, hook or
// resource can leave the mark out.
type Trust struct {
	Unconfirmed bool `json:"unconfirmed,omitempty"` // known only from an import or from the repository
}

// TrustIn is how far a version is to be trusted.
func TrustIn(v *Version) Trust { return Trust{Unconfirmed(v)} }

// First orders what is so before what is not.
func First(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// UnconfirmedLast orders what nobody has confirmed here after the rest.
func UnconfirmedLast(a, b *Version) int { return First(!Unconfirmed(a), !Unconfirmed(b)) }

// Stated reports whether a user of this machine, or one who is trusted here, says it.
func Stated(v *Version) bool { return ByUser(v) && !Unconfirmed(v) }

// UsersFirst orders what a user says before the rest.
func UsersFirst(a, b *Version) int { return First(Stated(a), Stated(b)) }

// Mark is what stands after a value that nobody has confirmed here.
func (t Trust) Mark() string {
	if t.Unconfirmed {
		return " [? unconfirmed]"
	}
	return ""
}

// Line is a whole value in one line, with its mark.
func (t Trust) Line(value string) string { return prose.Line(value) + t.Mark() }

// Brief is a value in one line, cut, with its mark.
func (t Trust) Brief(value string) string { return prose.Brief(value) + t.Mark() }

// Quote is [Trust.Brief] with the value in quotes.
func (t Trust) Quote(value string) string { return "'" + prose.Brief(value) + "'" + t.Mark() }
