package replica

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/state"
)

// Known is a replica as a store knows it.
type Known struct {
	ID      string   `json:"id"`
	Key     string   `json:"key,omitempty"` // the fingerprint of its key; none: its lines are not signed
	By      []string `json:"by,omitempty"`  // who speaks in its lines
	Lines   int      `json:"lines"`
	Trusted bool     `json:"trusted,omitempty"`
	Own     bool     `json:"own,omitempty"`

	public string
}

// Line is the replica as one line of an answer.
func (k Known) Line() string {
	what := "not trusted"
	switch {
	case k.Own:
		what = "this store"
	case k.Trusted:
		what = "trusted"
	case k.Key == "":
		what = "not signed: its writer has to update lean-ctx and sync"
	}
	text := fmt.Sprintf("%s  key %s  %s  %s", k.ID, spaced(k.Key), prose.Count(k.Lines, "line"), what)
	if by := prose.Line(prose.Clip(strings.Join(k.By, ", "), 80)); len(k.By) > 0 && (k.Own || k.Trusted) {
		text += " (" + by + ")"
	} else if len(k.By) > 0 { // anybody can write any name
		text += ", calls itself " + by
	}
	return text
}

// spaced is a fingerprint in groups, so that people can compare it.
func spaced(key string) string {
	if len(key) != 16 {
		return "none"
	}
	return key[:4] + " " + key[4:8] + " " + key[8:12] + " " + key[12:]
}

// Trusting is the answer about replicas.
type Trusting struct {
	Replicas []Known `json:"replicas"`
	Said     string  `json:"said,omitempty"`
	Sync     *Report `json:"sync,omitempty"`
}

// Text gives the answer's lines.
func (t Trusting) Text() string {
	out := []string{}
	if t.Said != "" {
		out = append(out, t.Said)
	} else if len(t.Replicas) == 0 {
		out = append(out, "No replica has written into this repository yet")
	}
	for _, k := range t.Replicas {
		out = append(out, "  "+k.Line())
	}
	if t.Sync != nil {
		out = append(out, t.Sync.Text())
	}
	return strings.Join(out, "\n")
}

// Warned reports whether the sync had a warning.
func (t Trusting) Warned() bool { return t.Sync != nil && t.Sync.Warned() }

// Replicas lists the replicas whose lines are in the repository or known here.
func Replicas(ctx context.Context, s *knowledge.Store, root string) (out []Known, err error) {
	err = s.View(ctx, func(st *state.State, _ time.Time) error {
		out, err = replicas(st, s.Dir(), root, s.Now())
		return err
	})
	return out, err
}

func replicas(st *state.State, dir, root string, now time.Time) ([]Known, error) {
	repo, err := openRepository(root)
	if err != nil {
		return nil, err
	}
	defer repo.close()
	files, _, err := repo.read()
	if err != nil {
		return nil, err
	}
	in := incoming{looks: true, now: now, trusted: trustedKeys(st.Replica), redact: func(s string) (string, []string) { return s, nil }}
	in.read(files)
	p := &plan{}
	if st.Replica != nil {
		p.next = *st.Replica
	}
	if err := p.unlock(dir, true); err != nil {
		return nil, err
	}
	if p.known, err = readCopy(dir, p.next.Lines, publicOf(p.key)); err != nil {
		return nil, err
	}
	p.upgrade()
	if _, err := p.find(in); err != nil {
		return nil, err
	}
	byWriter, by := map[writer]*Known{}, map[writer]map[string]bool{}
	for _, l := range p.all() {
		k := byWriter[l.writer]
		if k == nil {
			k = &Known{ID: l.writer.id, Key: l.writer.key, Trusted: p.trusted.has(l.writer)}
			k.Own = k.Trusted && p.ownID(k.ID)
			byWriter[l.writer], by[l.writer] = k, map[string]bool{}
		}
		if l.Op == opKey {
			if key, _ := decodeKey(l.Public); Fingerprint(key) == l.writer.key {
				k.public = l.Public
			}
			continue
		}
		if k.Lines++; l.author() != "" && len(by[l.writer]) < 8 {
			by[l.writer][l.author()] = true
		}
	}
	var out []Known
	for _, w := range slices.SortedFunc(maps.Keys(byWriter), writer.compare) {
		k := byWriter[w]
		k.By = slices.Sorted(maps.Keys(by[w]))
		out = append(out, *k)
	}
	return out, nil
}

// Trust has the lines of a replica count like those of this store. name is its id or the fingerprint
// of its key.
func Trust(ctx context.Context, s *knowledge.Store, root, name string) (t Trusting, err error) {
	name = strings.ReplaceAll(name, " ", "")
	err = knowledge.TakeIn(ctx, s, func(st *state.State, now time.Time) ([]state.Event, error) {
		all, err := replicas(st, s.Dir(), root, s.Now())
		if err != nil {
			return nil, err
		}
		k, err := oneOf(all, name)
		switch {
		case err != nil:
			return nil, err
		case k.Own:
			return nil, refusal.Argument("replica", "%s is this store itself", k.ID)
		case k.Key == "" || k.public == "":
			return nil, refusal.Argument("replica", "the lines of %s are not signed: its writer has to update lean-ctx and run lean-ctx sync first", k.ID)
		case k.Trusted:
			t = Trusting{Said: "Trusted already:", Replicas: []Known{k}}
			return nil, nil
		}
		next := formats.Replica{}
		if st.Replica != nil {
			next = *st.Replica
		}
		next.Trusted = append(slices.Clip(next.Trusted), formats.TrustedReplica{ID: k.ID, Key: k.public, Name: strings.Join(k.By, ", "), At: now})
		next.Refold = true
		k.Trusted = true
		t = Trusting{Said: "Trusted from now on: what it asserts, changes and erases counts here. Compare the key with `lean-ctx sync replicas` on that machine:", Replicas: []Known{k}}
		return []state.Event{{Replica: &next}}, nil
	})
	return t, err
}

// Untrust takes the trust in a replica back. What it has done so far stays.
func Untrust(ctx context.Context, s *knowledge.Store, name string) (t Trusting, err error) {
	name = strings.ReplaceAll(name, " ", "")
	err = knowledge.TakeIn(ctx, s, func(st *state.State, now time.Time) ([]state.Event, error) {
		if st.Replica == nil {
			return nil, refusal.Argument("replica", "no replica is trusted here")
		}
		next := *st.Replica
		t = Trusting{}
		keys := map[string]bool{}
		next.Trusted = slices.DeleteFunc(slices.Clone(next.Trusted), func(x formats.TrustedReplica) bool {
			key, _ := decodeKey(x.Key)
			if gone := x.ID == name || Fingerprint(key) == name; gone && !slices.Contains(next.Former, x.ID) {
				keys[Fingerprint(key)] = true
				t.Replicas = append(t.Replicas, Known{ID: x.ID, Key: Fingerprint(key)})
				return true
			}
			return false
		})
		if len(t.Replicas) == 0 {
			return nil, refusal.Argument("replica", "%s is not trusted here: lean-ctx sync replicas lists those that are", prose.Line(name))
		}
		key, err := readKey(s.Dir())
		if err != nil {
			return nil, err
		}
		lines, err := readCopy(s.Dir(), math.MaxInt, publicOf(key))
		if err != nil {
			return nil, err
		}
		for i, l := range lines {
			if l.foreign && keys[l.writer.key] {
				l.former = true
			}
			if i < next.Lines && l.foreign && keys[l.writer.key] {
				t.Replicas[0].Lines++
			}
		}
		next.Refold = true
		t.Said = "Not trusted any more; what it did so far stays:"
		return []state.Event{{Replica: &next}}, writeCopy(s.Dir(), lines)
	})
	return t, err
}

// oneOf is the replica with an id or a key.
func oneOf(all []Known, name string) (Known, error) {
	var found []Known
	for _, k := range all {
		if k.ID == name || k.Key != "" && k.Key == name {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		return Known{}, refusal.Argument("replica", "no replica %s has written into this repository: lean-ctx sync replicas lists those that have", prose.Line(prose.Clip(name, 40)))
	case 1:
		return found[0], nil
	}
	signed := slices.DeleteFunc(slices.Clone(found), func(k Known) bool { return k.Key == "" })
	if len(signed) == 0 {
		return found[0], nil
	}
	keys := []string{}
	for _, k := range signed {
		keys = append(keys, k.Key)
	}
	return Known{}, refusal.Argument("replica", "lines of several writers are here as %s, and some may be forged: compare the key with `lean-ctx sync replicas` on that machine, then give the key instead: %s", found[0].ID, strings.Join(keys, ", "))
}
