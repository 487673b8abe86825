package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// Briefed is one event at which hooks showed facts to a model.
type Briefed struct {
	At      time.Time `json:"at"`
	Client  string    `json:"client"`
	Session string    `json:"session,omitempty"` // the client's name of it
	Event   string    `json:"event"`
	Facts   []string  `json:"facts"`            // category/key
	Tokens  int       `json:"tokens,omitempty"` // of the whole text, estimated as bytes/4
}

// briefedKept is how many days the record is kept.
const briefedKept = 30

// briefingFile is the record of a project for one day, with one line of JSON for each
// event. It is only appended to, so it needs no lock.
func briefingFile(data, project, day string) string {
	return filepath.Join(data, "logs", "briefings", project+"-"+day+".jsonl")
}

// record appends what the session was given. If it cannot be written, it is lost: the
// session does not wait for it.
func (c Call) record(s *Session, facts []string, text string) {
	if s.project == "" || len(facts) == 0 || !exists(c.Data) {
		return
	}
	line, err := json.Marshal(Briefed{At: s.now.UTC(), Client: s.Client, Session: s.id, Event: c.Event, Facts: facts, Tokens: (len(text) + 3) / 4})
	if err != nil {
		return
	}
	path := briefingFile(c.Data, s.project, s.now.UTC().Format(time.DateOnly))
	if !exists(path) {
		dropBriefings(c.Data, s.now)
	}
	f, err := openFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n')) // one write: lines of two processes do not mix
	_ = f.Close()
}

// BriefedBefore is when hooks last gave a briefing to another session of the client in the
// project. It is zero if they gave none in the last 30 days.
func (s *Session) BriefedBefore() time.Time {
	b, err := ReadBriefings(filepath.Dir(filepath.Dir(s.files)), s.project, math.MaxInt, s.now)
	if err != nil {
		return time.Time{}
	}
	for _, x := range b.Briefings {
		if x.Client == s.Client && x.Event == SessionStart && (x.Session != s.id || s.id == "") && x.At.Before(s.now) {
			return x.At
		}
	}
	return time.Time{}
}

// dropBriefings removes the days that are too old.
func dropBriefings(data string, now time.Time) {
	oldest := now.UTC().AddDate(0, 0, -briefedKept).Format(time.DateOnly)
	files, _ := filepath.Glob(briefingFile(data, "*", "*")) // the pattern is valid
	for _, path := range files {
		if day := strings.TrimSuffix(path, ".jsonl"); len(day) > len(oldest) && day[len(day)-len(oldest):] < oldest {
			_ = os.Remove(path) // another process may have removed it
		}
	}
}

// Briefings lists what sessions were given, the newest first.
type Briefings struct {
	Briefings []Briefed `json:"briefings"`
	More      int       `json:"more"` // left out by the limit
}

// ReadBriefings reads the record of a project. limit is 20 if it is not positive.
func ReadBriefings(data, project string, limit int, now time.Time) (Briefings, error) {
	if limit <= 0 {
		limit = 20
	}
	files, err := filepath.Glob(briefingFile(data, project, "*"))
	if err != nil {
		return Briefings{}, err
	}
	b := Briefings{Briefings: []Briefed{}}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return b, err
		}
		for line := range bytes.Lines(text) {
			var x Briefed
			if json.Unmarshal(line, &x) == nil && now.Sub(x.At) <= briefedKept*24*time.Hour { // else it was torn, or is old
				b.Briefings = append(b.Briefings, x)
			}
		}
	}
	slices.SortStableFunc(b.Briefings, func(x, y Briefed) int { return y.At.Compare(x.At) })
	b.More = max(0, len(b.Briefings)-limit)
	b.Briefings = b.Briefings[:len(b.Briefings)-b.More]
	return b, nil
}

// Text gives the answer's lines.
func (b Briefings) Text() string {
	if len(b.Briefings) == 0 {
		return "No session was briefed in the last 30 days."
	}
	var t strings.Builder
	fmt.Fprintf(&t, "Briefings (%s):\n", prose.Count(len(b.Briefings)+b.More, "session event"))
	for _, x := range b.Briefings {
		names := make([]string, len(x.Facts))
		for i, f := range x.Facts {
			names[i] = Line(f)
		}
		session := ""
		if x.Session != "" {
			session = " " + Line(x.Session)
		}
		fmt.Fprintf(&t, "  %s %s%s %s: %s\n", x.At.UTC().Format("2006-01-02 15:04"), x.Client, session, x.Event, strings.Join(names, ", "))
	}
	if b.More > 0 {
		fmt.Fprintf(&t, "  … %d more (limit=%d)\n", b.More, len(b.Briefings))
	}
	return strings.TrimSuffix(t.String(), "\n")
}
