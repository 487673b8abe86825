package formats

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// Nearly nothing here starts a goroutine: under the race detector each model is tried less often.
func TestMain(m *testing.M) {
	flag.Set("rapid.checks", strconv.Itoa(proctest.Rounds(100))) // the command line may ask for more
	os.Exit(m.Run())
}

// hostile are texts that a format could trip over.
var hostile = []string{
	"", " ", "a", "JWT RS256", "a|b", "k=v", "★★★", "★", `\`, `\n`, `\★`, "?", "a★★★?", "x:y", "a\nb", "\r\n", "\x00", "\x1b[2J", "\u2028", "\u0085",
	`"quoted"`, "<b>&amp;", "🦊👩‍👩‍👧", "Ключ Доступа", "認証トークン", "مرحبا\u200f", "\u202eevil", "é", "é", "ß", "İ", "ı", "ǆ", "ǅ", "ﬁ", "\uFEFF", "\uFFFD",
	"LAST_TASK", "+3 more facts in 2 rooms", "Σίσυφος", "ＧＯＴＣＨＡＳ", " nbsp ", "ͅ", "ﷺ", "ᾳ", "ŉ",
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 12, 40), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 4).Draw(t, "parts"), "")
	}))
}

func times() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		sec := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "sec") // years 1 to 9999
		return time.Unix(sec, rapid.SampledFrom([]int64{0, 1, 5e8, 999999999}).Draw(t, "ns")).UTC()
	})
}

var unknownMembers = []Unknown{
	nil,
	{"sensitivity": Raw(`"public"`)},
	{"": Raw(`null`), `a"b`: Raw(`{"deep":[1,{"x":-0.0}],"e":{}}`), "ключ": Raw(`1e400`)},
}

// fill gives every exported field, at any depth, some value; so a field that is
// added to a type is tested from that day.
func fill(t *rapid.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = times().Draw(t, "time")
		return
	case *map[string]uint64:
		*x = map[string]uint64{rapid.SampledFrom([]string{"9c41e07d", ""}).Draw(t, "replica"): rapid.Uint64().Draw(t, "seq")}
		return
	case *Unknown:
		*x = rapid.SampledFrom(unknownMembers).Draw(t, "extra")
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.ToValidUTF8(texts().Draw(t, "text"), "?"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(0, 1<<40).Draw(t, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case reflect.Float64:
		v.SetFloat(rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64()).Draw(t, "float"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Pointer:
		if v.Type().Elem() == reflect.TypeFor[Fact]() || rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field)
		}
	default:
		t.Fatalf("no way to fill a %v", v.Type())
	}
}

func documents() *rapid.Generator[*Document] {
	return rapid.Custom(func(t *rapid.T) *Document {
		d := new(Document)
		fill(t, reflect.ValueOf(d).Elem())
		d.Schema = Schema
		for _, f := range d.Facts {
			f.ID = "f-" + f.ID // an empty one would be filled in
		}
		return d
	})
}

func encoded(t interface{ Fatal(...any) }, d *Document) []byte {
	var b bytes.Buffer
	if err := EncodeNative(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecodedIsWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := documents().Draw(t, "document")
		data := encoded(t, d)
		got, err := DecodeNative(data)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if diff := cmp.Diff(canonical(d), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("decoded differs (-encoded +decoded):\n%s", diff)
		}
		if again := encoded(t, got); !bytes.Equal(data, again) {
			t.Fatalf("encoded again:\n%s", cmp.Diff(string(data), string(again)))
		}
	})
}

// The oracle of the layout is encoding/json itself, told the same by the tags.
func TestEncodedIsWhatTheTagsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := canonical(documents().Draw(t, "document"))
		var want bytes.Buffer
		byTags(t, &want, reflect.ValueOf(d).Elem())
		var indented bytes.Buffer
		if err := json.Indent(&indented, want.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(indented.String()+"\n", string(encoded(t, d))); diff != "" {
			t.Fatalf("layout (-by the tags +encoded):\n%s", diff)
		}
	})
}

// byTags writes v by its struct tags, and unknown members behind the others.
func byTags(t *rapid.T, b *bytes.Buffer, v reflect.Value) {
	leaf := func(x any) {
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if err := e.Encode(x); err != nil {
			t.Fatal(err)
		}
	}
	switch x := v.Interface().(type) {
	case time.Time, *time.Time:
		leaf(x)
		return
	case Optional:
		if x == "" {
			leaf(nil)
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		byTags(t, b, v.Elem())
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			byTags(t, b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Struct:
		b.WriteByte('{')
		for _, field := range reflect.VisibleFields(v.Type()) {
			name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
			x := v.FieldByIndex(field.Index)
			if field.Anonymous || name == "-" || option == "embed" || option != "" && (x.IsZero() || x.Kind() == reflect.Slice && x.Len() == 0) {
				continue
			}
			leaf(name)
			b.WriteByte(':')
			byTags(t, b, x)
			b.WriteByte(',')
		}
		b.Truncate(len(bytes.TrimSuffix(b.Bytes(), []byte(","))))
		if x := v.FieldByName("Extra"); x.IsValid() {
			unknownByName(b, x, leaf)
		}
		b.WriteByte('}')
	default:
		leaf(v.Interface())
	}
}

func unknownByName(b *bytes.Buffer, extra reflect.Value, leaf func(any)) {
	members := extra.Interface().(Unknown)
	for _, name := range []string{"", `a"b`, "sensitivity", "ключ"} {
		if raw, ok := members[name]; ok {
			b.WriteByte(',')
			leaf(name)
			b.WriteByte(':')
			b.Write(raw)
		}
	}
}

// A journal's commit keeps everything of a record too.
func TestRecordsSurviveACommit(t *testing.T) {
	type commit struct {
		Fact     *Fact     `json:"fact"`
		Relation Relation  `json:"relation"`
		Gotcha   *Gotcha   `json:"gotcha"`
		Pattern  Pattern   `json:"pattern"`
		Note     *Insight  `json:"note"`
		Erase    Tombstone `json:"erase"`
	}
	rapid.Check(t, func(t *rapid.T) {
		var c, got commit
		fill(t, reflect.ValueOf(&c).Elem())
		data, err := journal.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := journal.DecodeDocument(data, &got); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if diff := cmp.Diff(c, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}
