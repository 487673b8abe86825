package formats

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// TestTextsReachesEveryField: whoever adds a text to the fact file need not add it anywhere
// else to have secrets taken out of it.
func TestTextsReachesEveryField(t *testing.T) {
	var d Document
	fillTexts(reflect.ValueOf(&d).Elem(), 6)
	before, err := journal.Encode(&d)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(before), "SECRET"); n < 60 {
		t.Fatalf("%d texts only: %s", n, before)
	}
	Texts(&d, func(s string) string { return strings.ReplaceAll(s, "SECRET", "") })
	after, err := journal.Encode(&d)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(after), "SECRET") {
		t.Errorf("not reached: %s", after)
	}
}

// fillTexts sets every text below v, so many levels deep.
func fillTexts(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 && v.CanSet() && v.Type().Elem() != reflect.TypeFor[time.Time]() {
			v.Set(reflect.New(v.Type().Elem()))
			fillTexts(v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillTexts(v.Field(i), depth)
			}
		}
	case reflect.Slice:
		if depth > 0 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fillTexts(v.Index(0), depth-1)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[Unknown]() {
			v.Set(reflect.ValueOf(Unknown{"unknown": Raw(`{"a":["SECRET"]}`)}))
		}
	case reflect.String:
		v.SetString("SECRET")
	}
}

// A change that breaks a member which we do not know takes it away.
func TestTextsLeavesJSON(t *testing.T) {
	p := Pattern{Extra: Unknown{"x": Raw(`"token"`)}}
	Texts(&p, func(string) string { return `"tok` })
	if got := string(p.Extra["x"]); got != "null" {
		t.Errorf("got %s", got)
	}
}
