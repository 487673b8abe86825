package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"leanctx/formats/transcript"
)

// said makes a session of what users and agents said in turns.
func said(t *testing.T, s *Store, name string, texts ...string) string {
	t.Helper()
	e := Events{Client: "windsurf", Session: name}
	for i, text := range texts {
		role := transcript.User
		if i%2 == 1 {
			role = transcript.Agent
		}
		e.Turns = append(e.Turns, transcript.Turn{ID: fmt.Sprint(name, i), Role: role, Text: text, At: time.Date(2026, 11, 22, 14, i, 0, 0, time.UTC)})
	}
	got, err := s.Note(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return got.ID
}

// fromTranscript makes a session that hooks told of look like one that was read from a transcript.
func fromTranscript(t *testing.T, s *Store, id string) {
	t.Helper()
	r, err := s.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.whole(r.file)
	if err != nil {
		t.Fatal(err)
	}
	_, turns, _ := strings.Cut(string(text), "\n")
	r.Header.File = "session.jsonl"
	head, err := json.Marshal(r.Header)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s.path(r.file), string(head)+"\n"+turns)
}

func TestQuotesAreWhatWasSaid(t *testing.T) {
	s := open(t)
	long := "The build was slow today and I looked at it for an hour. Something about caches. " +
		"Releases are cut from the branch stable on Thursdays, never from main. " + fmt.Sprint(make([]int, 200))
	id := said(t, s, "aaaaaaaa", "please add a router", "Done: the router is in mux.go.", long, "Noted.", "the upload limit is 250 MB", "The upload limit is 250 MB now, I changed the upload limit.")
	said(t, s, "bbbbbbbb", "which branch are releases cut from?", "I do not know.")
	// What hooks alone tell may be made up by an agent: it is marked, and told to nobody who did not ask.
	unasked := Quoting{Query: "which branch are releases cut from on thursdays?", Most: 1, Users: true, Unasked: true}
	if got, err := s.Quotes(t.Context(), unasked); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	if got, err := s.Quotes(t.Context(), Quoting{Query: "what is the upload limit", Most: 3}); err != nil || len(got) != 2 || got[0].Role != "user (by a hook)" {
		t.Error(got, err)
	}
	if got, err := s.Grep(t.Context(), Expression{Regexp: "upload limit is 250"}); err != nil || len(got.Matches) != 2 || got.Matches[0].Role != "user (by a hook)" {
		t.Error(got, err)
	}
	fromTranscript(t, s, id)
	quotes := func(q Quoting) []Quote {
		t.Helper()
		list, err := s.Quotes(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := quotes(Quoting{Query: "which branch are releases cut from?", Most: 3}); len(got) != 1 || got[0].Session != id || got[0].N != 3 ||
		got[0].Text[:len("… Releases are cut from the branch stable")] != "… Releases are cut from the branch stable" {
		t.Errorf("%+v", got)
	}
	if got := quotes(Quoting{Query: "what is the upload limit", Most: 3}); len(got) != 2 || got[0].Role != transcript.User || got[1].Role != transcript.Agent {
		t.Errorf("%+v", got)
	}
	for _, stranger := range []string{"who painted the bridge", "the", "router colour palette of the designer", "go ahead"} {
		if got := quotes(Quoting{Query: stranger, Most: 3}); len(got) != 0 {
			t.Errorf("%q: %+v", stranger, got)
		}
	}
	if got := quotes(Quoting{Query: "what is the upload limit", Most: 3, Not: "aaaaaaaa"}); len(got) != 0 {
		t.Errorf("of its own session: %+v", got)
	}
	// Nobody asked: it must be certain.
	if got := quotes(unasked); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	if got := quotes(Quoting{Query: "run the tests please?", Most: 1, Users: true, Unasked: true}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
