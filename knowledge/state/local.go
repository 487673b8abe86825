package state

import (
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Local facts never leave this machine, neither through the repository nor to a team. What
// names one stays with them.

// Part parts entries of a list into those that others may know and those that stay here.
func (l *List[T]) Part(f Facts, all []T) (shared, local []T) {
	for _, x := range all {
		if l.local != nil && l.local(f, x) {
			local = append(local, x)
		} else {
			shared = append(shared, x)
		}
	}
	return shared, local
}

// local reports whether an event tells of a fact that never leaves this machine.
func (e Event) local() bool {
	return e.Put != nil && e.Put.Privacy == fact.PrivacyLocal || e.Confirm != nil && e.Confirm.Privacy == fact.PrivacyLocal ||
		e.Dispute != nil && e.Dispute.Privacy == fact.PrivacyLocal
}

// onlyLocal reports whether nobody else knows a fact.
func onlyLocal(f Facts, name formats.Name) bool {
	vs := f.Versions(fact.IDOf(name.Category, name.Key))
	return len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.Privacy != fact.PrivacyLocal })
}

// localDispute reports whether a dispute is about something local: its value, what it stands
// against, or a fact that it names. What it stands against may be gone.
func localDispute(f Facts, d formats.Dispute) bool {
	against := Version(f, fact.IDOf(d.Category, d.Key), d.Against)
	return d.Privacy == fact.PrivacyLocal || against != nil && against.Privacy == fact.PrivacyLocal ||
		onlyLocal(f, formats.Name{Category: d.Category, Key: d.Key}) || d.Rival != nil && onlyLocal(f, *d.Rival) || d.Rename != nil && onlyLocal(f, *d.Rename)
}

// localPair reports whether a verdict is about a local fact. A category may hold slashes.
func localPair(f Facts, p formats.JudgedPair) bool {
	for _, key := range []string{p.KeyA, p.KeyB} {
		for i, r := range key {
			if r == '/' && onlyLocal(f, formats.Name{Category: key[:i], Key: key[i+1:]}) {
				return true
			}
		}
	}
	return false
}
