package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"leanctx/internal/journal"
	"leanctx/internal/refusal"
)

// Place is where a project is, or was when it was last seen.
type Place struct {
	Root   string `json:"root"`              // the work tree or directory; slashes forward
	GitDir string `json:"git_dir,omitempty"` // what it is known by, if it is a repository: the common directory, or the work tree's own when work trees are isolated
	Birth  string `json:"birth,omitempty"`   // see birth: a new git directory in its place has another one

	Claim      string `json:"id,omitempty"`          // of the identity file there, when it was last seen
	LinkedFrom string `json:"linked_from,omitempty"` // the hash of the project it was before Link
}

// record is a project in the map. Records are never changed, only replaced.
type record struct {
	Hash         string    `json:"hash"`
	ID           string    `json:"id,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	ListedAt     time.Time `json:"asked_at,omitzero"` // when git last listed the first commits
	Secret       string    `json:"secret,omitempty"`  // see secretFile
	Remote       string    `json:"remote,omitempty"`
	FirstCommits []string  `json:"first_commits,omitempty"`
	Places       []Place   `json:"places"`
	Former       []string  `json:"former,omitempty"`
	Unlinked     []string  `json:"apart,omitempty"` // places that were unlinked: they do not return by themselves
}

// change is an event of the map.
type change struct {
	Put    *record `json:"put,omitempty"`
	Forget string  `json:"forget,omitempty"` // a hash
}

// registry is the state of the map.
type registry struct {
	records   map[string]*record   // by hash
	forgotten map[string]time.Time // hashes that are not given out again
}

const schema = 1

// machine makes a journal of the map.
type machine struct{}

func (machine) New() *registry {
	return &registry{records: map[string]*record{}, forgotten: map[string]time.Time{}}
}

func (machine) Clone(a *registry) *registry {
	return &registry{records: maps.Clone(a.records), forgotten: maps.Clone(a.forgotten)}
}

func (machine) Fold(a *registry, c journal.Commit[change]) *registry {
	for _, e := range c.Events {
		if e.Put != nil {
			a.records[e.Put.Hash] = e.Put
		}
		if e.Forget != "" {
			delete(a.records, e.Forget)
			a.forgotten[e.Forget] = c.At
		}
	}
	return a
}

// registryFile is projects.json.
type registryFile struct {
	journal.Header
	Projects  []*record            `json:"projects"`
	Forgotten map[string]time.Time `json:"forgotten,omitempty"`
}

func (machine) Encode(w io.Writer, a *registry, h journal.Header) error {
	records := slices.Collect(maps.Values(a.records))
	slices.SortFunc(records, func(a, b *record) int {
		return strings.Compare(a.root()+"\x00"+a.Hash, b.root()+"\x00"+b.Hash)
	})
	return journal.EncodeDocument(w, registryFile{Header: h, Projects: append([]*record{}, records...), Forgotten: a.forgotten})
}

func (m machine) Decode(data []byte) (*registry, error) {
	var f registryFile
	if err := journal.DecodeDocument(data, &f); err != nil {
		return nil, err
	}
	a := m.New()
	for _, r := range f.Projects {
		if r == nil || !validHash(r.Hash) {
			return nil, fmt.Errorf("a project's hash is not 16 hex digits")
		}
		a.records[r.Hash] = r
	}
	maps.Copy(a.forgotten, f.Forgotten)
	return a, nil
}

func validHash(s string) bool {
	return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// root is the place to show.
func (r *record) root() string {
	if len(r.Places) > 0 {
		return r.Places[0].Root
	}
	if len(r.Former) > 0 {
		return r.Former[len(r.Former)-1]
	}
	return ""
}

func (r *record) project() Project {
	return Project{
		Hash: r.Hash, Name: projectName(r.root()), Root: r.root(), ID: r.ID, Known: true, CreatedAt: r.CreatedAt,
		Remote: r.Remote, FirstCommits: slices.Clone(r.FirstCommits), Places: slices.Clone(r.Places), Former: slices.Clone(r.Former),
	}
}

// with is the record updated by an observation of its place i, or of a new place if i is
// negative.
func (r *record) with(s *observation, i int) *record {
	next := *r
	next.Places = slices.Clone(r.Places)
	switch {
	case i < 0:
		next.Places = append(next.Places, s.Place)
		i = len(r.Places)
	case s.GitDir == "" && next.Places[i].GitDir == "" && s.Birth != "":
		next.Places[i].Birth = s.Birth
	case s.GitDir == "": // that there is no repository any more is nothing to remember
	case next.Places[i].GitDir == "":
		next.Places[i] = s.Place
	default: // work trees that share a repository differ in their roots
		next.Places[i].Birth = s.Birth
	}
	next.Places[i].Claim = s.Claim
	next.Former = slices.DeleteFunc(slices.Clone(r.Former), func(f string) bool { return f == s.Root && i == len(r.Places) })
	next.learn(s)
	if i > 0 && r.Remote != "" {
		next.Remote = r.Remote // the first place's
	}
	return &next
}

// without is the record without the places that an observation is at.
func (r *record) without(s *observation) *record {
	next := *r
	next.Places, next.Former = nil, slices.Clone(r.Former)
	for _, p := range r.Places {
		if !s.at(p, sameFile) {
			next.Places = append(next.Places, p)
		} else {
			next.leave(p)
		}
	}
	return &next
}

// leave notes a place that the record is no longer at. Former must be the record's own.
func (r *record) leave(p Place) {
	if !slices.Contains(r.Former, p.Root) {
		r.Former = append(r.Former, p.Root)
	}
}

// learn takes over what an observation knows better.
func (r *record) learn(s *observation) {
	if s.Remote != "" {
		r.Remote = s.Remote
	}
	if s.ID != "" && !s.taken {
		r.ID = s.ID
	}
	if s.ranGit && s.hasCommit { // before the first commit git lists nothing
		r.ListedAt = s.now
		all := slices.Concat(r.FirstCommits, s.firstCommits)
		slices.Sort(all)
		r.FirstCommits = slices.Compact(all)
	}
}

// at finds the record with the place of an observation, and the number of that place. The
// same spelling counts before the same file with another spelling.
func (a *registry) at(s *observation) (*record, int) {
	for _, same := range []func(a, b string) bool{equalPath, sameFile} {
		for _, r := range a.records {
			if i := slices.IndexFunc(r.Places, func(p Place) bool { return s.at(p, same) }); i >= 0 {
				return r, i
			}
		}
	}
	return nil, 0
}

// at reports whether an observation is of a recorded place. Two repositories are compared by
// their git directories, anything else by the root.
func (s *observation) at(p Place, same func(a, b string) bool) bool {
	if s.GitDir != "" && p.GitDir != "" {
		return same(s.GitDir, p.GitDir)
	}
	return same(s.Root, p.Root)
}

// placeOf is the number of the record's place that an observation is at, or negative.
func (r *record) placeOf(s *observation) int {
	return slices.IndexFunc(r.Places, func(p Place) bool { return s.at(p, sameFile) })
}

// free is a hash for an identity that no project has or had.
func (a *registry) free(identity string) string {
	for n := 1; ; n++ {
		text := identity
		if n > 1 {
			text += "\x00" + strconv.Itoa(n)
		}
		sum := sha256.Sum256([]byte(text))
		hash := hex.EncodeToString(sum[:8])
		if _, gone := a.forgotten[hash]; !gone && a.records[hash] == nil {
			return hash
		}
	}
}

func equalPath(a, b string) bool { return a == b }

// sameFile reports whether two spellings of a path are one file. They may differ in case, or
// in the Unicode form of their letters.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > 2*len(b) || len(b) > 2*len(a) || !strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b)) {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// named finds the record for a name that a user gave.
func (a *registry) named(ref string) (*record, error) {
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

// list names records for a message.
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
