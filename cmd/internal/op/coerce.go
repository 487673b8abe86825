package op

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
)

// coerce converts v, from JSON or a command line, to the type of a parameter: string,
// float64, int64, bool or []string. present is false if v means "not given".
func coerce(p Param, v any) (out any, present bool, err error) {
	if v == nil {
		return nil, false, nil
	}
	if s, ok := v.(string); ok && p.Type != TypeString && strings.TrimSpace(s) == "" {
		return nil, false, nil
	}
	switch p.Type {
	case TypeString:
		out, err = toString(p, v)
	case TypeNumber:
		out, err = toNumber(v)
	case TypeInteger:
		out, err = toInteger(v)
	case TypeBoolean:
		out, err = toBoolean(v)
	case TypeArray:
		out, err = toList(v)
	}
	if err == nil {
		err = p.fits(out)
	}
	if err != nil {
		return nil, false, err
	}
	if list, ok := out.([]string); out == "" || ok && len(list) == 0 {
		return nil, false, nil
	}
	return out, true, nil
}

// fits reports an argument that is longer than any operation needs.
func (p Param) fits(v any) error {
	most, size, items := MaxArgument, 0, 0
	if p.Long {
		most = MaxText
	}
	switch v := v.(type) {
	case string:
		size = len(v)
	case []string:
		most *= 16
		items = len(v)
		for _, s := range v {
			size += len(s)
		}
	}
	switch {
	case size > most:
		return fmt.Errorf("has %d bytes, at most %d are allowed", size, most)
	case items > maxItems:
		return fmt.Errorf("has %d entries, at most %d are allowed", items, maxItems)
	}
	return nil
}

func toString(p Param, v any) (string, error) {
	s, ok := scalar(v)
	if list, isList := v.([]any); isList && len(list) == 1 {
		s, ok = scalar(list[0])
	}
	if !ok {
		return "", fmt.Errorf("must be text, not %s", brief(v))
	}
	if !utf8.ValidString(s) {
		return "", errors.New("is not valid UTF-8")
	}
	if len(p.Enum) == 0 || strings.TrimSpace(s) == "" {
		return s, nil
	}
	for _, e := range p.Enum {
		if prose.Fold(e) == prose.Fold(s) {
			return e, nil
		}
	}
	if near, ok := prose.Nearest(s, p.Enum); ok {
		return "", fmt.Errorf("must be one of %s, not %s; did you mean %q?", strings.Join(p.Enum, ", "), brief(v), near)
	}
	return "", fmt.Errorf("must be one of %s, not %s", strings.Join(p.Enum, ", "), brief(v))
}

// scalar is the text of a string, number or truth value.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func toNumber(v any) (float64, error) {
	if s, ok := scalar(v); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	}
	return 0, fmt.Errorf("must be a number, not %s", brief(v))
}

// maxInteger bounds whole numbers, so that no sum or product of two overflows. A count, a size in MiB
// or a number of days is far smaller.
const maxInteger = 1 << 40

func toInteger(v any) (int64, error) {
	if s, ok := scalar(v); ok {
		s = strings.TrimSpace(s)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && -maxInteger <= n && n <= maxInteger {
			return n, nil
		}
		// 10.0 and 1e2 are whole numbers.
		f, err := strconv.ParseFloat(s, 64)
		if err == nil && f == math.Trunc(f) && math.Abs(f) <= maxInteger {
			return int64(f), nil
		}
		if err == nil && math.Abs(f) > maxInteger {
			return 0, fmt.Errorf("must be at most %d, not %s", maxInteger, brief(v))
		}
	}
	return 0, fmt.Errorf("must be a whole number, not %s", brief(v))
}

func toBoolean(v any) (bool, error) {
	if s, ok := scalar(v); ok {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "true", "yes", "on", "1":
			return true, nil
		case "false", "no", "off", "0":
			return false, nil
		}
	}
	return false, fmt.Errorf("must be true or false, not %s", brief(v))
}

// toList takes a list, a JSON list in a string, or a string with commas.
func toList(v any) ([]string, error) {
	switch v := v.(type) {
	case []string:
		if !slices.ContainsFunc(v, func(s string) bool { return !utf8.ValidString(s) }) {
			return v, nil
		}
		return nil, errors.New("is not valid UTF-8")
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			if e == nil {
				continue
			}
			s, ok := scalar(e)
			if !ok {
				return nil, fmt.Errorf("must be a list of texts, not %s", brief(v))
			}
			out = append(out, s)
		}
		return toList(out)
	}
	s, ok := scalar(v)
	if !ok || !utf8.ValidString(s) {
		return nil, fmt.Errorf("must be a list of texts, not %s", brief(v))
	}
	if strings.Count(s, ",") > maxElements {
		return nil, fmt.Errorf("has more than %d elements", maxElements)
	}
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "[") {
		if err := Bounded([]byte(t)); err != nil {
			return nil, err
		}
		var list []any
		d := json.NewDecoder(strings.NewReader(t))
		d.UseNumber()
		if err := d.Decode(&list); err == nil && !d.More() {
			return toList(list)
		}
	}
	return split(s), nil
}

// The limits of a request. A decoded list takes forty times its bytes.
const (
	maxElements = 20_000 // of all its lists and objects
	maxNesting  = 64
)

// Bounded returns an error if JSON text has too many elements or too deep a nesting to be
// decoded. The text need not be valid.
func Bounded(text []byte) error {
	elements, depth, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == ',':
			if elements++; elements > maxElements {
				return fmt.Errorf("has more than %d elements", maxElements)
			}
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return fmt.Errorf("is nested more than %d deep", maxNesting)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// brief is v as JSON, shortened for a message.
func brief(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "such a value"
	}
	s := string(b)
	if len(s) <= 60 {
		return s
	}
	cut := 57
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// empty reports whether an argument is null, also as a text, "", 0, false or []. Many models send
// every field of the schema, and these values for the fields that do not apply.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == "" || nullWord(v)
	case bool:
		return !v
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !empty(e) })
	case map[string]any:
		return len(v) == 0
	}
	f, err := toNumber(v)
	return err == nil && f == 0
}
