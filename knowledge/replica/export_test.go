package replica

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"leanctx/formats"
)

// Newer is a line of an operation that this version does not know.
func Newer(replica string, seq int) string {
	l := &Line{ID: fmt.Sprintf("%s-%d", replica, seq), At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Op: "transmute"}
	_ = l.encode(nil)
	return string(l.text) + "\n"
}

// KeyOf is the private key of a store.
func KeyOf(t interface{ Fatal(...any) }, dir string) ed25519.PrivateKey {
	key, err := readKey(dir)
	if key == nil {
		t.Fatal(err)
	}
	return key
}

// Gone is a line that says nothing.
func Gone(replica string) string {
	l := &Line{ID: replica + "-1", At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: opGone, Name: "x"}
	_ = l.encode(nil)
	return string(l.text) + "\n"
}

// AssertLine is an assertion of another replica.
func AssertLine(replica, key, value string) string {
	l := &Line{ID: replica + "-1", At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: opAssert, Category: "arch", Key: key, Value: value, Confidence: new(0.8), SourceKind: "agent", By: "codex-c3"}
	_ = l.encode(nil)
	return string(l.text) + "\n"
}

// EscapedLine is an assertion with one character of its value as JSON escapes it.
func EscapedLine(replica, key, value string) string {
	text := strings.TrimSuffix(AssertLine(replica, key, value), "\n")
	text = strings.Replace(text[:len(text)-crcLen], value, fmt.Sprintf(`\u%04x`, value[0])+value[1:], 1)
	return text + crcMember + checksum([]byte(text+"}")) + "\"}\n"
}

// ForgedLine is a line that claims to be of a user, the newest, and to know all.
func ForgedLine(replica, op, key, value string, later bool) string {
	l := &Line{ID: "11111111-900", At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: op, Category: "arch", Key: key, SourceKind: "user", By: "mallory"}
	if later {
		l.At = time.Date(2026, 3, 1, 9, 0, 1, 0, time.UTC)
	}
	switch op {
	case opAssert:
		l.Value, l.Confidence = value, new(1.0)
	case opRename:
		l.To = &formats.Name{Category: "arch", Key: value}
	}
	return encodedAs(l, replica)
}

// ForgedReminder is a reminder of somebody else, or a later one with the same id.
func ForgedReminder(replica, id, text string, later bool) string {
	l := &Line{ID: replica + "-1", At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: opRemind, Reminder: &formats.Reminder{ID: id, Text: text, Keyword: "auth", State: "open"}}
	if later {
		l.ID, l.At = replica+"-2", l.At.Add(time.Hour)
	}
	_ = l.encode(nil)
	return string(l.text) + "\n"
}

// ForgedErase erases a fact by its name.
func ForgedErase(replica, category, key string) string {
	l := &Line{ID: "11111111-901", At: time.Date(2026, 3, 1, 9, 0, 1, 0, time.UTC), Op: opErase, Name: hashed(formats.Name{Category: category, Key: key})}
	l.Lines = []string{"OURS-2"} // the first line after the key: its writer claims to know it
	return encodedAs(l, replica)
}

// encodedAs leaves the id to be put in place; then the line has to be made anew by Signed.
func encodedAs(l *Line, replica string) string {
	l.Seen = map[string]uint64{"OURS": 1 << 40, "OURS~": 1 << 40, "deadbeef": 1 << 40}
	_ = l.encode(nil)
	return strings.ReplaceAll(string(l.text), "11111111", replica) + "\n"
}

// Signed mends the checksum of lines and signs them.
func Signed(text string, key ed25519.PrivateKey) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		l := &Line{text: []byte(line), body: len(line) - crcLen}
		l.sign(key)
		b.Write(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// RandomLine is any line that somebody may write into a repository: of any operation, under any id,
// ours among them, about facts that are there and others. text is what ids are taken from.
func RandomLine(r *rand.Rand, ours, text string) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	id := pick(ours, ours, "deadbeef", fmt.Sprintf("%08x", r.Uint32()))
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(60*24*60)-30*24*60) * time.Minute)
	if r.IntN(4) == 0 {
		at = time.Date(1970+r.IntN(7000), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	name := func() formats.Name {
		return formats.Name{Category: pick("arch", "arch", "ARCH", "other", "gotcha", "pattern"), Key: pick("auth", "db", "home", "cache", "clients", "queue", "bus", "x", "y", "naming", "editing-auth", "one-two-three-four-five", "one-two-three-four-five-2")}
	}
	n := name()
	ops := []string{opAssert, opAssert, opRetract, opFact, opRename, opErase, opRevive, opPattern, opUnpattern, opGotcha, opUngotcha, opRelate, opUnrelate, opRemind, opJudge, opDispute, opProject, opGone, opKey, opAccept}
	l := &Line{
		ID: fmt.Sprintf("%s-%d", id, 1+r.Uint64N(1<<pick2(r, 3, 40))), At: at, Op: ops[r.IntN(len(ops))], By: pick("user", "cursor-a1", "mallory"), Category: n.Category, Key: n.Key,
		Value: pick("none", "JWT RS256", "PostgreSQL 16", strings.Repeat("z", 1+r.IntN(4000))), Confidence: new(r.Float64()), SourceKind: pick("user", "agent", "file", "tool", "import", "?"),
		Correct: r.IntN(3) == 0, Also: r.IntN(4) == 0, Replaces: pick("", "", "*", "Codex"), Merge: r.IntN(2) == 0, Aliases: []string{pick("auth", "db", "z")}, Reason: pick("", "local", "former"),
	}
	if r.IntN(2) == 0 {
		l.Pinned = new(r.IntN(2) == 0)
	}
	if r.IntN(3) == 0 {
		l.ValidFrom = new(at.AddDate(0, -r.IntN(5), 0))
	}
	if r.IntN(3) == 0 {
		l.ValidUntil = new(at.AddDate(0, r.IntN(5), 1))
	}
	if r.IntN(3) == 0 {
		l.Examples, l.Questions, l.Tags, l.Archetype = []string{"run it"}, []string{"what?"}, []string{"critical"}, pick("observation", "workflow", "x")
	}
	if r.IntN(6) == 0 {
		l.Privacy = pick("local", "shared", "team")
	}
	if r.IntN(2) == 0 {
		l.Seen = map[string]uint64{ours: r.Uint64(), id + "~": 99, ours + "~" + pick("", "0123456789abcdef"): 1 << 50}
	}
	ids := versionIDs(text)
	version := pick(append(ids, "f-0011223344556677")...)
	to := name()
	l.To, l.Name = &to, hashed(name())
	switch l.Op {
	case opFact:
		l.Versions = []*formats.Fact{{
			ID: version, Category: l.Category, Key: l.Key, Value: l.Value, ValidFrom: at, RecordedFrom: at, Confidence: 1, Pinned: true, Privacy: pick("local", "shared"),
			Aliases: []string{"db"}, Sources: []formats.Source{{Kind: "user", By: "user", At: at}}, Also: l.Also, Examples: l.Examples, Archetype: l.Archetype,
		}}
		for range r.IntN(3) { // versions and sources that go on in this line
			v := *l.Versions[0]
			v.ID, v.ValidFrom, v.Sources = pick(append(ids, "f-8899aabbccddeeff")...), at.AddDate(0, r.IntN(5), 0), append(v.Sources, formats.Source{Kind: "file", By: "mallory", At: at.Add(time.Hour)})
			l.Versions = append(l.Versions, &v)
		}
		l.More, l.Rest = r.IntN(2) == 0, r.IntN(3) == 0
	case opPattern, opUnpattern:
		l.Pattern = &formats.Pattern{Type: pick("naming", "Naming ", "x"), Description: pick("snake_case", l.Value), Examples: []string{l.Value}}
	case opGotcha, opUngotcha:
		l.Gotcha = &formats.Gotcha{ID: pick("g-1", "g-2", version), Trigger: pick("editing "+l.Key, "editing auth", "one two three four five six", "one two three four five seven", "one two three four five eight"), Resolution: l.Value, Severity: pick("critical", "info", "x"), FirstSeen: at, LastSeen: at}
	case opRelate, opUnrelate:
		l.Relation = &formats.Relation{From: formats.RelationEnd{Name: n}, To: formats.RelationEnd{Name: to}, Kind: pick("supersedes", "related")}
	case opRemind:
		l.Reminder = &formats.Reminder{ID: pick("r-1", "r-2"), Text: l.Value, Keyword: "auth", State: pick("open", "done")}
	case opJudge:
		l.Pair = &formats.JudgedPair{KeyA: pick("", strings.Repeat("/", r.IntN(40))) + n.Category + "/" + n.Key, KeyB: to.Category + "/" + to.Key, Verdict: "compatible"}
	case opDispute:
		l.Dispute = &formats.Dispute{ID: pick("d-00112233", "d-0011"), Category: n.Category, Key: n.Key, Value: l.Value, Against: version, State: pick("open", "accepted", "rejected"), At: at}
	case opProject:
		l.Project = &Project{}
	case opKey:
		l.Public = strings.Repeat("A", 43)
	case opAccept:
		l.Lines, l.SourceKind = []string{l.digest, "AAAA"}, "user"
	}
	var key ed25519.PrivateKey
	if r.IntN(2) == 0 {
		key = ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+r.IntN(3))), ed25519.SeedSize)))
	}
	if l.Op == opKey && key != nil {
		l.Public = encodeKey(publicOf(key))
	}
	if l.encode(key) != nil {
		return ""
	}
	return string(l.text) + "\n"
}

func pick2(r *rand.Rand, a, b int) int {
	if r.IntN(2) == 0 {
		return a
	}
	return b
}

func versionIDs(text string) (out []string) {
	for part := range strings.SplitSeq(text, `"`) {
		if strings.HasPrefix(part, "f-") && len(part) == 18 {
			out = append(out, part)
		}
	}
	return out
}

// DigestsIn are the digests of the lines of a file.
func DigestsIn(text string) (out []string) {
	for line := range strings.Lines(text) {
		if l, err := parse([]byte(strings.TrimSuffix(line, "\n"))); err == nil {
			out = append(out, l.digest)
		}
	}
	return out
}

// Claims is a line of a replica with any members: number n, so many minutes after the others.
func Claims(replica string, n int, l Line, key ed25519.PrivateKey) string {
	l.ID, l.At = fmt.Sprintf("%s-%d", replica, n), cmp.Or(l.At, time.Date(2026, 3, 1, 8, n, 0, 0, time.UTC))
	if l.Category == "" {
		l.Category = "arch"
	}
	if err := l.encode(key); err != nil {
		panic(err)
	}
	return string(l.text) + "\n"
}

// KeyLine is the first line of a replica's file.
func KeyLine(replica string, key ed25519.PrivateKey) string {
	return Claims(replica, 1, Line{Op: opKey, Public: encodeKey(publicOf(key))}, key)
}

// Hashed is the name of an erased fact.
func Hashed(category, key string) string { return hashed(formats.Name{Category: category, Key: key}) }

// WithoutRule are the operations, each with whether nothing says who may do it.
func WithoutRule() map[string]bool {
	out := map[string]bool{}
	for op, o := range operations {
		out[op] = o.rule.may == nil
	}
	return out
}

// FormerNames are the names that an erased fact had before, as an erasure has them.
func FormerNames(name string, until time.Time) []formerName {
	return []formerName{{Name: name, Until: until}}
}
