package ledger

import (
	"bytes"
	"encoding/json"
	"iter"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/search"
)

// AppendDocs adds versions as the text index takes them.
func AppendDocs(docs []search.Doc, vs []*fact.Version) []search.Doc {
	for _, v := range vs {
		docs = append(docs, Doc(v))
	}
	return docs
}

// Doc is a version as the text index takes it.
func Doc(v *fact.Version) search.Doc {
	return search.Doc{ID: v.ID, Category: v.Category, Key: v.Key, Value: v.Value, Aliases: v.Aliases}
}

// Texts yields the facts that come after a name, by name, as the text index sees them: all their versions, good until
// the next is yielded. In this order a search meets them as the key table has them.
func (s *State) Texts(after fact.ID) iter.Seq2[fact.ID, []search.Doc] {
	return func(yield func(fact.ID, []search.Doc) bool) {
		var docs []search.Doc
		s.merged(&after, func(rest []fact.ID) bool {
			docs = AppendDocs(docs[:0], s.all[rest[0]])
			return yield(rest[0], docs)
		}, func(n fact.ID, text []byte) bool {
			var err error
			if docs, err = readDocs(docs[:0], text); err != nil {
				s.base.fail(err)
				return false
			}
			return yield(n, docs)
		})
	}
}

// readDocs takes from the text of a fact what the text index is about, at a tenth of what reading it whole costs. A text
// that this build did not write so is read whole.
func readDocs(docs []search.Doc, text []byte) ([]search.Doc, error) {
	begun := len(docs)
	for rest := text; ; {
		end := bytes.Index(rest, []byte("\n    }"))
		if end < 0 {
			break
		}
		d, ok := readDoc(rest[:end])
		if !ok {
			break
		}
		docs = append(docs, d)
		if rest = rest[end+len("\n    }"):]; len(rest) == 0 {
			return docs, nil
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(formats.FactSeparator)); !ok {
			break
		}
	}
	vs, err := formats.DecodeFacts(text)
	return AppendDocs(docs[:begun], vs), err
}

// The lines with which a version begins in a fact file.
const (
	lineID       = "{\n      \"id\": "
	lineCategory = "\n      \"category\": "
	lineKey      = "\n      \"key\": "
	lineValue    = "\n      \"value\": "
	noAliases    = "\n      \"aliases\": [],"
)

func readDoc(text []byte) (d search.Doc, ok bool) {
	if !bytes.Contains(text, []byte(noAliases)) {
		return d, false
	}
	for _, member := range []struct {
		line string
		into *string
	}{{lineID, &d.ID}, {lineCategory, &d.Category}, {lineKey, &d.Key}, {lineValue, &d.Value}} {
		if text, ok = bytes.CutPrefix(text, []byte(member.line)); !ok {
			return d, false
		}
		end := bytes.IndexByte(text, '\n')
		if end < 2 || text[end-1] != ',' {
			return d, false
		}
		if *member.into, ok = unquoted(text[:end-1]); !ok {
			return d, false
		}
		text = text[end:]
	}
	return d, true
}

// unquoted is a JSON string as text.
func unquoted(s []byte) (text string, ok bool) {
	if bytes.IndexByte(s, '\\') >= 0 {
		return text, json.Unmarshal(s, &text) == nil
	}
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	return string(s[1 : len(s)-1]), true
}
