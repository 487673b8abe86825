package replica

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"time"

	"leanctx/formats"
)

// Counting before anybody has agreed to take anything in costs a start next to nothing, whatever
// the repository holds.
const (
	countTime  = 20 * time.Millisecond
	countNames = 20_000   // facts
	countLine  = 64 << 10 // bytes of a line that is looked at
)

// Count is how many facts a repository brings.
type Count struct {
	Facts int
	More  bool // it was not looked at whole
}

// CountFacts counts the facts in the repository of a work tree, for a store that has taken in none
// of them. It replays nothing: the newest line about a name decides. It is 0 for a repository that
// cannot be read.
func CountFacts(root string) Count {
	repo, err := openRepository(root)
	if err != nil {
		return Count{}
	}
	defer repo.close()
	c := counter{names: map[string]mention{}, until: time.Now().Add(countTime)}
	entries, err := repo.list()
	if err != nil && !errors.Is(err, errTooMany) {
		return Count{}
	}
	c.more = err != nil
	for _, e := range entries {
		if path.Ext(e.Name()) != ".jsonl" || !e.Type().IsRegular() {
			continue
		}
		if c.more = c.more || !time.Now().Before(c.until); c.more {
			break
		}
		if in, err := repo.open(logDir + "/" + e.Name()); err == nil {
			c.read(in)
			_ = in.Close() // it was only read
		}
	}
	n := 0
	for _, m := range c.names {
		if m.there {
			n++
		}
	}
	return Count{n, c.more}
}

// mention is what the newest line about a name says.
type mention struct {
	at    string
	there bool
}

type counter struct {
	names map[string]mention
	until time.Time
	more  bool
}

func (c *counter) read(in io.Reader) {
	b := bufio.NewReaderSize(in, countLine)
	long := false
	for n := 0; ; n++ {
		text, err := b.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long, c.more = true, true
		case !long && len(text) > 2:
			c.line(text)
			fallthrough
		default:
			long = false
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		if n%16 == 0 && !time.Now().Before(c.until) || len(c.names) >= countNames {
			c.more = true
			return
		}
	}
}

func (c *counter) line(text []byte) {
	if !bytes.HasPrefix(text, []byte(`{"id":"`)) {
		return
	}
	var l struct {
		At, Op, Category, Key, Value string
		To                           *formats.Name
	}
	if json.Unmarshal(text, &l) != nil || l.Category == "" || l.Key == "" {
		return
	}
	switch l.Op {
	case opAssert, opFact:
		c.note(l.Category, l.Key, l.At, true)
	case opRetract:
		if l.Value == "" {
			c.note(l.Category, l.Key, l.At, false)
		}
	case opRename:
		c.note(l.Category, l.Key, l.At, false)
		if l.To != nil {
			c.note(l.To.Category, l.To.Key, l.At, true)
		}
	}
}

func (c *counter) note(category, key, at string, there bool) {
	if len(category)+len(key) > 1<<10 {
		return
	}
	name := formats.FoldName(category) + "\x00" + formats.FoldName(key)
	if m, ok := c.names[name]; !ok || at >= m.at {
		c.names[name] = mention{at[:min(len(at), 40)], there}
	}
}
