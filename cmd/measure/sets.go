package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// set is a set of facts with known answers.
type set struct {
	name string
	run  func(*evaluator) ([]Row, error)
}

// sets are all there are, in the order of the report.
func sets() []set {
	return []set{
		{"project-questions", projectQuestions(false)},
		{"project-questions+stored", projectQuestions(true)},
		{"factconsolidation-6k", consolidation("6k")},
		{"factconsolidation-32k", consolidation("32k")},
		{"locomo-facts", documents("locomo-dev/facts")},
		{"locomo-turns", documents("locomo-dev/turns")},
		{"cosqa", documents("cosqa-dev")},
		{"paraphrases", paraphrases},
		{"yago11k", yagoAsOf},
		{"yago-snapshots", yagoSnapshots},
	}
}

func setNames() (names []string) {
	for _, s := range sets() {
		names = append(names, s.name)
	}
	return names
}

// chooseSets gives the sets of these names, and those whose names begin with one that is no set's own.
func chooseSets(only []string) ([]set, error) {
	starts := func(n string) func(set) bool {
		return func(s set) bool {
			return s.name == n || !slices.Contains(setNames(), n) && strings.HasPrefix(s.name, n)
		}
	}
	for _, n := range only {
		if !slices.ContainsFunc(sets(), starts(n)) {
			return nil, fmt.Errorf("no set %q; the sets are %s", n, strings.Join(setNames(), ", "))
		}
	}
	return slices.DeleteFunc(sets(), func(s set) bool {
		return len(only) > 0 && !slices.ContainsFunc(only, func(n string) bool { return starts(n)(s) })
	}), nil
}

// lines calls f with the lines of a file, which may be gzipped.
func lines(path string, f func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			if err := f(line); err != nil {
				return fmt.Errorf("%s: line %d: %w", path, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", path, n, err)
		}
	}
}

// records reads a file of JSON lines. One bad line fails the set: figures over
// half of a set would mean nothing.
func records[T any](e *evaluator, path string) (all []T, err error) {
	err = lines(filepath.Join(e.data, path), func(line []byte) error {
		var r T
		err := json.Unmarshal(line, &r)
		all = append(all, r)
		return err
	})
	return all, err
}

// judgements reads a file of three columns, query, document, grade, under one
// line of headings.
func (e *evaluator) judgements(path string) (map[string]grades, error) {
	out, first := map[string]grades{}, true
	err := lines(filepath.Join(e.data, path), func(line []byte) error {
		if first {
			first = false
			return nil
		}
		fields := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
		if len(fields) != 3 {
			return fmt.Errorf("%d columns, not 3", len(fields))
		}
		grade, err := strconv.Atoi(fields[2])
		if err != nil || grade < 1 {
			return err
		}
		if out[fields[0]] == nil {
			out[fields[0]] = grades{}
		}
		out[fields[0]][fields[1]] = grade
		return nil
	})
	return out, err
}

// foreign are 200 questions of the other folders, as many of each, evenly
// spread over it.
func (e *evaluator) foreign(folder string) (out []string, err error) {
	var others [][]string
	for _, file := range []string{"locomo-dev/facts/queries.jsonl.gz", "cosqa-dev/queries.jsonl.gz", "factconsolidation/questions_32k.jsonl.gz"} {
		if strings.HasPrefix(file, folder+"/") {
			continue
		}
		questions, err := records[struct{ Text, Question string }](e, file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var texts []string
		for _, q := range questions {
			texts = append(texts, q.Text+q.Question)
		}
		others = append(others, texts)
	}
	for i, texts := range others {
		out = append(out, spread(texts, (200/e.sample-len(out))/(len(others)-i))...)
	}
	return out, nil
}

// projectQuestions is project-questions: what agents ask about four software
// projects, each a group. stored gives each fact the questions that were written
// for it.
func projectQuestions(stored bool) func(*evaluator) ([]Row, error) {
	const folder = "project-questions"
	return func(e *evaluator) ([]Row, error) {
		entries, err := os.ReadDir(filepath.Join(e.data, folder))
		if err != nil {
			return nil, err
		}
		c := corpus{folder: folder, stored: stored}
		for _, entry := range entries {
			if entry.IsDir() {
				if err := e.readProject(&c, entry.Name()); err != nil {
					return nil, err
				}
			}
		}
		rows, _, err := e.measure(c)
		return rows, err
	}
}

func (e *evaluator) readProject(c *corpus, project string) error {
	at := func(file string) string { return filepath.Join(c.folder, project, file) }
	id := func(n int) string { return fmt.Sprint(project, "/", n) }
	type questionsOf struct {
		N         int
		Questions string
	}
	stored, err := records[questionsOf](e, at("stored-questions.jsonl"))
	if err != nil {
		return err
	}
	facts, err := records[struct {
		N                    int
		Category, Key, Value string
		ValidFrom            string `json:"valid_from"`
	}](e, at("facts.jsonl"))
	if err != nil {
		return err
	}
	for _, f := range facts {
		doc := fact{id: id(f.N), group: project, args: object{"category": f.Category, "key": f.Key, "value": f.Value, "valid_from": f.ValidFrom}}
		if i := slices.IndexFunc(stored, func(q questionsOf) bool { return q.N == f.N }); i >= 0 {
			doc.questions = stored[i].Questions
		}
		c.facts = append(c.facts, doc)
	}
	questions, err := records[struct {
		ID, Kind, Question string
		AsOf               string `json:"as_of"`
		Expect, Stale      []int
	}](e, at("questions.jsonl"))
	for _, a := range questions {
		q := query{id: a.ID, group: project, kind: a.Kind, text: a.Question, anyOf: true, relevant: grades{}, stale: map[string]bool{}}
		for _, n := range a.Expect {
			q.relevant[id(n)] = 1
		}
		for _, n := range a.Stale {
			q.stale[id(n)] = true
		}
		c.queries = append(c.queries, q)
		if a.AsOf != "" {
			q.kind, q.asOf, q.id = q.kind+", as_of given", a.AsOf, q.id+"+"
			c.queries = append(c.queries, q)
		}
	}
	return err
}

// consolidation is factconsolidation: a stream of facts in which later ones
// override earlier ones, then questions of a single hop whose answer is current.
func consolidation(size string) func(*evaluator) ([]Row, error) {
	return func(e *evaluator) ([]Row, error) {
		stream, err := records[struct{ Text, Subject, Relation, Object string }](e, "factconsolidation/facts_"+size+".jsonl.gz")
		if err != nil {
			return nil, err
		}
		questions, err := records[struct {
			Question, Hops string
			Answers        []string
		}](e, "factconsolidation/questions_"+size+".jsonl.gz")
		if err != nil {
			return nil, err
		}
		c := corpus{folder: "factconsolidation"}
		type statement struct{ text, subject, object string }
		latest, versions := map[string]statement{}, map[name]int{}
		for _, s := range stream {
			id := s.Relation + "/" + s.Subject
			if latest[id].text != s.Text {
				versions[name{s.Relation, s.Subject}]++
			}
			latest[id] = statement{s.Text, s.Subject, s.Object}
			c.facts = append(c.facts, fact{id: id, args: object{"category": s.Relation, "key": s.Subject, "value": s.Text}})
		}
		for i, a := range questions {
			q := query{id: fmt.Sprint(i), text: a.Question, anyOf: true, relevant: grades{}}
			current := false
			for id, s := range latest {
				// The answer is current if it is the object of a subject that the
				// question names; any fact that holds it is a right one.
				current = current || slices.Contains(a.Answers, s.object) && strings.Contains(a.Question, s.subject)
				if slices.ContainsFunc(a.Answers, func(answer string) bool { return strings.Contains(s.text, answer) }) {
					q.relevant[id] = 1
				}
			}
			if a.Hops == "single" && current {
				c.queries = append(c.queries, q)
			}
		}
		rows, store, err := e.measure(c)
		if err != nil {
			return nil, err
		}
		t := newTally("versions", "")
		for n, want := range versions {
			got, err := e.timeline(store.projects[""], n.category, n.key)
			if err != nil {
				return nil, err
			}
			t.n++
			t.check(got.Total == want, "[%s] %s: %d versions, not %d", n.category, n.key, got.Total, want)
		}
		return append(rows, t.done()), nil
	}
}

type timeline struct {
	Total   int
	Entries []struct {
		Value, Mark   string
		Confirmations int
	}
}

func (e *evaluator) timeline(project, category, key string) (t timeline, err error) {
	err = e.server.ask("timeline", object{"project": project, "category": category, "key": key}, &t)
	if _, none := errors.AsType[toolError](err); none {
		return t, nil // no such fact: no versions
	}
	return t, err
}

// documents is a folder of documents, queries and judgements. The key of a
// document is its identifier and its category its title: what the set does not
// say must not help.
func documents(folder string) func(*evaluator) ([]Row, error) {
	return func(e *evaluator) ([]Row, error) {
		type text struct {
			ID                 string `json:"_id"`
			Group, Title, Text string
		}
		docs, err := records[text](e, folder+"/corpus.jsonl.gz")
		if err != nil {
			return nil, err
		}
		questions, err := records[text](e, folder+"/queries.jsonl.gz")
		if err != nil {
			return nil, err
		}
		judged, err := e.judgements(folder + "/qrels.tsv.gz")
		if err != nil {
			return nil, err
		}
		c := corpus{folder: strings.Split(folder, "/")[0]}
		for _, d := range docs {
			if d.Title == "" {
				d.Title = "document"
			}
			c.facts = append(c.facts, fact{id: d.ID, group: d.Group, args: object{"category": d.Title, "key": d.ID, "value": d.Text}})
		}
		for _, q := range questions {
			if len(judged[q.ID]) > 0 {
				c.queries = append(c.queries, query{id: q.ID, group: q.Group, text: q.Text, relevant: judged[q.ID]})
			}
		}
		rows, _, err := e.measure(c)
		return rows, err
	}
}

// paraphrases is a file of this repository: a fact a line, and below it
// questions that share no word with it, each after "? ".
func paraphrases(e *evaluator) ([]Row, error) {
	c := corpus{folder: "paraphrases"}
	err := lines(filepath.Join(e.root, "embed", "testdata", "paraphrases.txt"), func(line []byte) error {
		text := strings.TrimSpace(string(line))
		if question, ok := strings.CutPrefix(text, "? "); ok && len(c.facts) > 0 {
			c.queries = append(c.queries, query{id: question, text: question, relevant: grades{c.facts[len(c.facts)-1].id: 1}})
		} else if text != "" && !strings.HasPrefix(text, "#") {
			c.facts = append(c.facts, fact{id: text, args: object{"category": "document", "value": text}})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows, _, err := e.measure(c)
	return rows, err
}

// yagoAsOf is yago11k: facts with periods, then what was true in a year. Only
// keys whose facts do not overlap are used. A period that ends before it begins
// must be refused, and the store must stay as it was.
func yagoAsOf(e *evaluator) ([]Row, error) {
	type dated struct {
		Subject, Relation, Object string
		From, Until               *int // years; nil: open or unknown
	}
	facts, err := records[dated](e, "yago11k/facts.jsonl.gz")
	if err != nil {
		return nil, err
	}
	questions, err := records[struct {
		Subject, Relation string
		AsOf              int `json:"as_of"`
		Expect            []string
	}](e, "yago11k/asof_queries.jsonl.gz")
	if err != nil {
		return nil, err
	}
	project, err := e.project()
	if err != nil {
		return nil, err
	}
	of := map[string][][2]int{} // the periods of a key
	var all, refused []object
	for _, f := range facts {
		key := f.Relation + "/" + f.Subject
		period := [2]int{math.MinInt, math.MaxInt}
		args := object{"category": f.Relation, "key": f.Subject, "value": f.Object}
		if f.From != nil {
			period[0], args["valid_from"] = *f.From, fmt.Sprintf("%04d-01-01", *f.From)
		}
		if f.Until != nil {
			period[1], args["valid_until"] = *f.Until, fmt.Sprintf("%04d-01-01", *f.Until+1)
		}
		if period[0] > period[1] {
			refused = append(refused, args)
			continue
		}
		of[key] = append(of[key], period)
		all = append(all, args)
	}
	disjoint := map[string]bool{}
	for key, periods := range of {
		slices.SortFunc(periods, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		disjoint[key] = e.sampled(key)
		for i := range len(periods) - 1 {
			disjoint[key] = disjoint[key] && periods[i][1] <= periods[i+1][0]
		}
	}
	key := func(f object) string { return fmt.Sprint(f["category"], "/", f["key"]) }
	if err := e.rememberAll(project, slices.DeleteFunc(all, func(f object) bool { return !disjoint[key(f)] }), 32); err != nil {
		return nil, err
	}
	t := newTally("exact", "")
	for _, f := range refused {
		before, err := e.timeline(project, fmt.Sprint(f["category"]), fmt.Sprint(f["key"]))
		if err != nil {
			return nil, err
		}
		f = maps.Clone(f)
		f["project"] = project
		_, err = e.server.call("remember", f)
		refusal, isTool := errors.AsType[toolError](err)
		after, err := e.timeline(project, fmt.Sprint(f["category"]), fmt.Sprint(f["key"]))
		if err != nil {
			return nil, err
		}
		t.check(isTool && strings.Contains(string(refusal), "valid_") && before.Total == after.Total, "%s: from %v until %v is not refused: %q", key(f), f["valid_from"], f["valid_until"], refusal)
	}
	for _, q := range questions {
		if !e.sampled(q.Relation + "/" + q.Subject) {
			continue
		}
		facts, took, err := e.server.recall(object{"project": project, "category": q.Relation, "key": q.Subject, "as_of": fmt.Sprintf("%04d-07-01", q.AsOf)})
		if err != nil {
			return nil, err
		}
		t.n++
		t.times = append(t.times, took)
		got := []string{}
		for _, f := range facts {
			got = append(got, f.Value)
		}
		slices.Sort(got)
		slices.Sort(q.Expect)
		t.check(slices.Equal(got, q.Expect), "[%s] %s as of %d: %q, not %q", q.Relation, q.Subject, q.AsOf, got, q.Expect)
	}
	return []Row{t.done()}, nil
}

// yagoSnapshots is yago-snapshots: rounds in which what holds is asserted
// again. In the end the value, the number of versions and the confirmations of
// each key must be exact.
func yagoSnapshots(e *evaluator) ([]Row, error) {
	stream, err := records[struct {
		T                         int
		Subject, Relation, Object string
	}](e, "yago-snapshots/stream.jsonl.gz")
	if err != nil {
		return nil, err
	}
	finals, err := records[struct {
		Subject, Relation, Current string
		Versions                   int
		Confirmations              int `json:"last_run_confirmations"`
	}](e, "yago-snapshots/expected_final.jsonl.gz")
	if err != nil {
		return nil, err
	}
	project, err := e.project()
	if err != nil {
		return nil, err
	}
	var round []object
	for i, o := range stream {
		if e.sampled(o.Relation + "/" + o.Subject) {
			round = append(round, object{"category": o.Relation, "key": o.Subject, "value": o.Object})
		}
		if i == len(stream)-1 || stream[i+1].T != o.T {
			if err := e.rememberAll(project, round, 32); err != nil {
				return nil, err
			}
			round = nil
		}
	}
	t := newTally("exact", "")
	for _, f := range finals {
		if !e.sampled(f.Relation + "/" + f.Subject) {
			continue
		}
		facts, took, err := e.server.recall(object{"project": project, "category": f.Relation, "key": f.Subject})
		if err != nil {
			return nil, err
		}
		got, err := e.timeline(project, f.Relation, f.Subject)
		if err != nil {
			return nil, err
		}
		t.n++
		t.times = append(t.times, took)
		ok := len(facts) == 1 && facts[0].Value == f.Current && got.Total == f.Versions && len(got.Entries) > 0
		if ok {
			last := got.Entries[len(got.Entries)-1]
			ok = last.Value == f.Current && last.Mark == "CURRENT" && last.Confirmations == f.Confirmations
		}
		t.check(ok, "[%s] %s: %v %+v, not %q in %d versions, confirmed %d times", f.Relation, f.Subject, facts, got, f.Current, f.Versions, f.Confirmations)
	}
	return []Row{t.done()}, nil
}
