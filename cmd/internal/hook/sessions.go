package hook

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/spool"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/fact"
)

const (
	// doubleWindow is the time in which two equal events of a session count as
	// one: the hooks of two clients may report it.
	doubleWindow = 10 * time.Second
	// sessionTTL is how long a session that does nothing is known: twice as long as
	// an inactive agent is listed.
	sessionTTL = 48 * time.Hour
	// logDays is how many days the log is kept.
	logDays = 30
	// maxSilence is how long a session may work without an event.
	maxSilence = time.Hour
	// aliveInterval is how long a session that is shown nothing beside its files leaves no line.
	aliveInterval = 5 * time.Minute
)

// SessionEvent is one event of a session, and the facts that hooks showed to its model then. It is
// a line of the log of a project and a day, logs/briefings/PROJECT-DAY.jsonl. The log is only
// appended to, so it needs no lock.
type SessionEvent struct {
	At      time.Time `json:"at"`
	Client  string    `json:"client"`
	Session string    `json:"session,omitempty"` // the client's name of it
	Event   string    `json:"event"`
	Facts   []string  `json:"facts,omitempty"`  // category/key
	Why     []string  `json:"why,omitempty"`    // each of Facts was chosen
	Tokens  int       `json:"tokens,omitempty"` // of the whole text, estimated as bytes/4
	trace
}

// trace is what hooks must know of an event later.
type trace struct {
	ID      string    `json:"id,omitempty"`
	Began   time.Time `json:"began,omitzero"`    // when the session was first seen
	Cleared bool      `json:"cleared,omitempty"` // the session ended since its context was cleared
	Follows string    `json:"follows,omitempty"` // the session whose context was cleared
	Key     string    `json:"key,omitempty"`     // of the answer: an equal one within ten seconds is no answer
	Shown   []string  `json:"shown,omitempty"`   // ids of notices and of versions
	Told    []string  `json:"told,omitempty"`    // the facts that were told: the version's id, a blank, category/key
	Stamp   string    `json:"stamp,omitempty"`   // of the facts, when all changes of what was told had been told
	Calls   []string  `json:"calls,omitempty"`   // of our own tools: the names of the call that is about to be made
	Edited  []string  `json:"edited,omitempty"`  // files that the session has changed, from the project's root
	Reader  string    `json:"reader,omitempty"`  // the subagent that was told; empty: the session itself
	Reset   bool      `json:"reset,omitempty"`   // what was told before is no longer in the context
	// Transcript is where the client writes down the session, at its start. The next session's start takes in what a client
	// that was killed has left there.
	Transcript string `json:"transcript,omitempty"`
}

// Told is a fact that was told.
type Told struct {
	Fact string // category/key
	ID   string // of the version, if all of its value was told
	Part string // of the version, if a part of its value was told
	Why  string // it was chosen
}

// Session is the session of a client in which an event occurred.
type Session struct {
	Client string // of the table
	Dir    string // where it works

	data    string // our data directory
	project string // the one that it is in
	event   SessionEvent
	resumed bool                    // it goes on with what it was told, perhaps long ago
	follows bool                    // it continues a session whose context was cleared
	log     []SessionEvent          // see readFor; of the last days, without the event
	named   map[string]string       // see names
	latest  map[string]SessionEvent // the last event of each session of the client there, by its name; for this session, event
}

func (c Call) session(in input) *Session {
	now := time.Now()
	if c.Now != nil {
		now = c.Now()
	}
	s := &Session{Client: c.Client, Dir: c.Dir, data: c.Data, follows: c.Event == SessionStart && in.text("source") == byClear}
	s.resumed = c.Event == SessionStart && in.text("source") == "resume"
	s.event = SessionEvent{At: now.UTC(), Client: c.Client, Session: c.sessionName(in), Event: c.Event, trace: trace{ID: rand.Text(), Began: now.UTC()}}
	s.event.Cleared = c.Event == SessionEnd && in.text("reason") == byClear
	s.event.Reader = c.clean(prose.Clip(in.text("agent_id", "subagent_id"), 100))
	// Gemini CLI 0.61 tells before each request that it may shorten the session, and mostly it does not.
	s.event.Reset = c.Event == PreCompact && c.Client != "gemini" || c.Event == SessionStart && slices.Contains([]string{byClear, "compact"}, in.text("source", "trigger"))
	return s
}

func shortHash(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:8])
}

// openFile opens a log and makes its directory if need be.
func openFile(path string, flags int) (*os.File, error) {
	f, err := openLog(path, flags)
	if errors.Is(err, fs.ErrNotExist) && flags&os.O_CREATE != 0 {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err = openLog(path, flags)
	}
	return f, err
}

// openLog opens a log that is a regular file, and no link to one.
func openLog(path string, flags int) (*os.File, error) {
	if err := logProblem(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flags|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), &FileError{Path: path, Problem: "is not a regular file"})
	}
	return f, nil
}

// logProblem says what is wrong with a log that is there: the file or its directory is a link, or
// it is no file.
func logProblem(path string) error {
	for at, isDir := filepath.Dir(path), true; ; at, isDir = path, false {
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return nil // what is not there can be made, and what cannot be looked at cannot be opened
		case info.Mode().Type() == fs.ModeSymlink:
			return &FileError{Path: at, Problem: "is a link"}
		case isDir != info.IsDir(), !isDir && !info.Mode().IsRegular():
			return &FileError{Path: at, Problem: "is not a regular file"}
		case !isDir:
			return nil
		}
	}
}

func logPath(data, project, day string) string {
	return filepath.Join(data, "logs", "briefings", project+"-"+day+".jsonl")
}

// logPaths lists the logs of a project, the oldest first; of all projects if none is named.
// A pattern would not do, since the data directory's name may hold any character.
func logPaths(data, project string) (out []string, err error) {
	dir := filepath.Dir(logPath(data, project, ""))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if project == "" || strings.HasPrefix(e.Name(), project+"-") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, err
}

// logLine is a line of a log that was not read yet. An event has many names of facts, and a day many events.
type logLine []byte

// of is the client and the session of a line, as they are written. They stand before the event.
func (l logLine) of() string {
	before, _, _ := bytes.Cut(l, []byte(`,"event":`))
	_, client, _ := bytes.Cut(before, []byte(`,"client":`))
	return string(client)
}

// has reports whether a line has a field of an event that is not empty.
func (l logLine) has(field string) bool { return bytes.Contains(l, []byte(`,"`+field+`":`)) }

// logLines are the lines of the log of a project since a time, the oldest first, without those that were torn.
func logLines(data, project string, since time.Time) (list []logLine, err error) {
	paths, err := logPaths(data, project)
	start := `{"at":"` + since.UTC().Format("2006-01-02T15:04:05")
	for _, path := range paths {
		if path < logPath(data, project, since.UTC().Format(time.DateOnly)) {
			continue
		}
		text, e := os.ReadFile(path)
		if err = errors.Join(err, e); e != nil {
			continue
		}
		for line := range bytes.Lines(text) {
			if string(line[:min(len(line), len(start))]) >= start && bytes.HasSuffix(bytes.TrimRight(line, "\n"), []byte("}")) {
				list = append(list, line)
			}
		}
	}
	return list, err
}

// readLines decodes lines since a time. Of two hooks that gave one answer within ten seconds, the first counts.
func readLines(lines []logLine, since time.Time) (list []SessionEvent) {
	answers := map[string]time.Time{}
	for _, line := range lines {
		var x SessionEvent
		if json.Unmarshal(line, &x) != nil || x.At.Before(since) {
			continue
		}
		if x.Key != "" {
			if at, ok := answers[x.Session+x.Key]; ok && x.At.Sub(at).Abs() < doubleWindow {
				continue
			}
			answers[x.Session+x.Key] = x.At
		}
		list = append(list, x)
	}
	return list
}

// readLog reads the log of a project since a time, the oldest line first.
func readLog(data, project string, since time.Time) ([]SessionEvent, error) {
	lines, err := logLines(data, project, since)
	return readLines(lines, since), err
}

// readFor reads what a session must know of the log: all of its own events; of other sessions the last one, the files that they
// changed, and which session each follows.
func (s *Session) readFor(since time.Time) []SessionEvent {
	lines, _ := logLines(s.data, s.project, since) // without them nothing is certain
	name, err := json.Marshal(s.event.Session)
	if err != nil {
		return nil
	}
	own := func(of string) bool { // two clients may report one session
		_, session, _ := strings.Cut(of, `,"session":`)
		return session == string(name) || session == "" && s.event.Session == ""
	}
	seen, need := map[string]bool{}, make([]logLine, 0, 64)
	for _, line := range slices.Backward(lines) {
		of := line.of()
		if own(of) || !seen[of] || line.has("edited") || line.has("follows") {
			need = append(need, line)
		}
		seen[of] = true
	}
	slices.Reverse(need)
	return readLines(need, since)
}

// write appends the event to the log, unless there is no data directory. What cannot be
// written is lost: the session does not wait for it.
func (s *Session) write() (written bool) {
	if s.project == "" || !exists(s.data) {
		return false
	}
	path := logPath(s.data, s.project, s.event.At.Format(time.DateOnly))
	if !exists(path) {
		s.dropOld()
	}
	line, err := json.Marshal(s.event)
	if err != nil {
		return false
	}
	f, err := openFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return false
	}
	_, err = spool.Append(f, line)
	return errors.Join(err, f.Close()) == nil
}

// dropOld removes what is too old, of all projects.
func (s *Session) dropOld() {
	oldest := s.event.At.AddDate(0, 0, -logDays).Format(time.DateOnly)
	paths, _ := logPaths(s.data, "") // what cannot be listed stays for another day
	for _, path := range paths {
		if day := strings.TrimSuffix(path, ".jsonl"); len(day) > len(oldest) && day[len(day)-len(oldest):] < oldest {
			_ = os.Remove(path) // another process may have removed it
		}
	}
	_ = os.RemoveAll(filepath.Join(s.data, "logs", "hook")) // of earlier versions, which kept sessions there
}

// give records an answer. It reports false if another hook gave the same answer within the last
// ten seconds. A session without a name gets every answer.
func (s *Session) give(text, source string, facts []Told, list []Notice) bool {
	s.event.Tokens = (len(text) + 3) / 4
	for _, x := range facts {
		s.event.Facts, s.event.Why = append(s.event.Facts, x.Fact), append(s.event.Why, x.Why)
		if x.ID != "" {
			s.event.Shown = append(s.event.Shown, x.ID)
		}
		if id := cmp.Or(x.ID, x.Part); id != "" {
			s.event.Told = append(s.event.Told, id+" "+x.Fact)
		}
	}
	if s.event.Session != "" {
		s.event.Key = shortHash(s.event.Event, source)
		for _, n := range list {
			s.event.Shown = append(s.event.Shown, n.ID)
			if id, _, ok := strings.Cut(n.Told, " "); ok {
				s.event.Shown, s.event.Told = append(s.event.Shown, id), append(s.event.Told, n.Told)
			}
		}
	}
	if !s.write() || s.event.Key == "" {
		return true // twice is better than not at all
	}
	// Who comes first in the log is the first, whichever of the two looks first.
	log, err := readLog(s.data, s.project, s.event.At.Add(-2*doubleWindow))
	return err != nil || slices.ContainsFunc(log, func(x SessionEvent) bool { return x.ID == s.event.ID })
}

// editOf is the last change of a file by another session that hooks have seen.
func (s *Session) editOf(file string) (last SessionEvent, ok bool) {
	for _, x := range slices.Backward(s.log) {
		if x.Session != "" && x.Session != s.event.Session && slices.Contains(x.Edited, file) {
			return x, true
		}
	}
	return last, false
}

// pass records an event without an answer. Events at files are many: one of them every few
// minutes tells that the session lives, and which file it changes.
func (s *Session) pass() {
	recent := func(x SessionEvent) bool {
		return x.Client == s.Client && x.Session == s.event.Session && s.event.At.Sub(x.At) < aliveInterval
	}
	traced := func(file string) bool {
		return slices.ContainsFunc(s.log, func(x SessionEvent) bool { return recent(x) && slices.Contains(x.Edited, file) })
	}
	untraced := slices.ContainsFunc(s.event.Edited, func(file string) bool { return !traced(file) })
	if s.event.Event != PostTool && s.event.Event != PreTool || untraced || !slices.ContainsFunc(s.log, recent) {
		s.write()
	}
}

// unshown leaves out notices that the session has seen.
func (s *Session) unshown(list []Notice) []Notice {
	return slices.DeleteFunc(slices.Clone(list), func(n Notice) bool {
		if s.event.Session == "" {
			return n.Once
		}
		return s.told(n.ID)
	})
}

// told reports whether the reader was told something, by the id of a notice or a version, and still has it in its context: a
// compaction takes it away. A subagent is a reader of its own.
func (s *Session) told(id string) bool {
	if s.event.Session == "" {
		return false
	}
	for _, x := range slices.Backward(s.log) {
		if x.Session != s.event.Session {
			continue
		}
		if x.Reader == s.event.Reader && slices.Contains(x.Shown, id) {
			return true
		}
		if x.Reset {
			return false
		}
	}
	return false
}

// toldPart reports whether the reader was told a part of a version at least, and still has it in its context.
func (s *Session) toldPart(id string) bool {
	if s.event.Session == "" {
		return false
	}
	for _, x := range slices.Backward(s.log) {
		if x.Session != s.event.Session {
			continue
		}
		if x.Reader == s.event.Reader && slices.ContainsFunc(x.Told, func(told string) bool { first, _, _ := strings.Cut(told, " "); return first == id }) {
			return true
		}
		if x.Reset {
			return false
		}
	}
	return false
}

// told are the facts that were told with an event: see [ToldAs].
func (x *SessionEvent) told() (list []briefing.Told) {
	for _, told := range x.Told {
		id, name, _ := strings.Cut(told, " ")
		category, key, _ := strings.Cut(name, "/")
		list = append(list, briefing.Told{ID: id, Name: fact.IDOf(category, key), At: x.At})
	}
	return list
}

// toldFacts are the facts that the reader was told and still has in its context, the earliest first. stamp is that of the facts
// when it last had heard of all changes. A session that is resumed may be older than what enter has read.
func (s *Session) toldFacts() (list []briefing.Told, stamp string) {
	log := s.log
	if s.resumed {
		log, _ = readLog(s.data, s.project, s.event.At.AddDate(0, 0, -logDays))
	}
	for _, x := range slices.Backward(log) {
		if x.Session != s.event.Session {
			continue
		}
		if x.Reader == s.event.Reader {
			stamp = cmp.Or(stamp, x.Stamp)
			for _, told := range slices.Backward(x.told()) {
				list = append(list, told)
			}
		}
		if x.Reset {
			break
		}
	}
	slices.Reverse(list)
	return list, stamp
}

// briefedBefore is when hooks last gave a briefing to another session of the client in the
// project. It is zero if they gave none in the last 30 days.
func (s *Session) briefedBefore() time.Time {
	since := s.event.At.AddDate(0, 0, -logDays)
	lines, _ := logLines(s.data, s.project, since) // without them there was none
	for _, line := range slices.Backward(lines) {
		if !line.has("facts") || !bytes.Contains(line, []byte(`"event":"`+SessionStart+`"`)) {
			continue
		}
		for _, x := range readLines([]logLine{line}, since) {
			if x.Client == s.Client && (x.Session != s.event.Session || x.Session == "") && x.At.Before(s.event.At) {
				return x.At
			}
		}
	}
	return time.Time{}
}

// enter says in which project the session is, and reads what hooks have seen there.
func (s *Session) enter(project string) {
	s.project = project
	s.look(s.readFor(s.event.At.Add(-sessionTTL)))
}

// look takes in what hooks have seen.
func (s *Session) look(log []SessionEvent) {
	s.log = log
	s.latest = map[string]SessionEvent{}
	for _, x := range s.log {
		if x.Client == s.Client {
			s.latest[x.Session] = x
			if x.Follows != "" {
				delete(s.latest, x.Follows)
			}
		}
	}
	if before, ok := s.latest[s.event.Session]; ok {
		s.event.Began = before.Began
	} else if s.follows {
		s.follow()
	}
	s.latest[s.event.Session] = s.event
}

// names are the sessions that hooks have seen in the project, by the agents that are named after them.
func (s *Session) names() map[string]string {
	if s.named == nil {
		s.named = map[string]string{}
		for _, x := range append(slices.Clip(s.log), s.event) {
			if x.Session != "" {
				s.named[Joined{Client: x.Client, Session: x.Session}.Name(s.project)] = x.Session
			}
		}
		for _, x := range s.log { // an agent stays when its client clears a session
			if x.Follows != "" {
				s.named[Joined{Client: x.Client, Session: x.Follows}.Name(s.project)] = x.Session
			}
		}
	}
	return s.named
}

// byClear is the reason of a session's end, and the source of the next one, after /clear.
const byClear = "clear"

// follow continues the session that was cleared within the last ten seconds, if there is
// exactly one: /clear ends a session and begins another, and the agent stays.
func (s *Session) follow() {
	var before []SessionEvent
	for name, x := range s.latest {
		if name != "" && x.Cleared && s.event.At.Sub(x.At).Abs() < doubleWindow {
			before = append(before, x)
		}
	}
	if len(before) == 1 && s.event.Session != "" {
		s.event.Began, s.event.Follows = before[0].Began, before[0].Session
		delete(s.latest, before[0].Session)
	}
}

// owner tells whose session an agent works in.
type owner int

// The owners.
const (
	Unsure owner = iota // perhaps the caller's
	Own
	Other // not the caller's
)

// ownerOf tells in which of the client's sessions in the project an agent of its kind
// registered. It is certain if just one session was there at that time: begun, not ended, and
// seen within the hour before.
//
// We do not compare the parent processes of a server and a hook: several sessions may share
// one, and there are shells in between.
func (s *Session) ownerOf(registered time.Time) owner {
	var there []SessionEvent
	for _, x := range s.latest {
		if !x.Began.After(registered) && (x.Event != SessionEnd || !x.At.Before(registered)) && !x.At.Before(registered.Add(-maxSilence)) {
			there = append(there, x)
		}
	}
	switch {
	case len(there) != 1 || there[0].Session == "" || there[0].Began.IsZero():
		return Unsure
	case there[0].Session == s.event.Session:
		return Own
	case there[0].Event == SessionEnd || s.event.Session == "": // the caller may continue it, or be any of them
		return Unsure
	}
	return Other
}
