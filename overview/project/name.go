package project

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"leanctx/internal/refusal"
)

// named finds the record that a person means.
func (a *atlas) named(ref string) (*record, error) {
	if r := a.records[ref]; r != nil {
		return r, nil
	}
	path := ref
	if looksLikePath(ref) {
		path, _ = absolute(ref)
	}
	matches := []func(*record) bool{
		func(r *record) bool { return r.ID != "" && r.ID == ref },
		func(r *record) bool {
			return slices.ContainsFunc(r.Places, func(p Place) bool { return p.Root == path })
		},
		func(r *record) bool { return slices.Contains(r.Former, path) },
		func(r *record) bool { return projectName(r.root()) == ref },
		func(r *record) bool { return len(ref) >= 4 && strings.HasPrefix(r.Hash, ref) },
	}
	for _, match := range matches {
		var found []*record
		for _, r := range a.records {
			if match(r) {
				found = append(found, r)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return nil, refusal.NotFound("%q could be any of %s", ref, list(found))
		}
	}
	return nil, notRecorded(ref)
}

// list names records to a person.
func list(records []*record) string {
	names := make([]string, len(records))
	for i, r := range records {
		names[i] = fmt.Sprintf("project %s (%s)", r.Hash, r.root())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func notRecorded(ref string) error {
	return refusal.NotFound("no project %q: see `lean-ctx project list`", ref)
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*refusal.NotFoundError](err)
	return ok
}
