package journal

import "reflect"

// Redacting is a [Remote] whose commits come from machines that may not redact as this one does.
// The copy is theirs, byte for byte; the state that is folded of it has no secrets.
type Redacting interface {
	// Redact takes secrets out of a text; nil: nothing is taken out.
	Redact() func(text string) string
}

func (o *Options) redact() func(string) string {
	if r, ok := o.Remote.(Redacting); ok {
		return r.Redact()
	}
	return nil
}

// minSecret is the length in bytes of the shortest text that is looked at.
const minSecret = 12

// redactTexts redacts every text in a decoded value.
func redactTexts(v reflect.Value, redact func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() >= minSecret && v.CanSet() {
			if clean := redact(v.String()); clean != v.String() {
				v.SetString(clean)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			redactTexts(v.Elem(), redact)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				redactTexts(v.Field(i), redact)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 { // other members, as they were written
			for i := range v.Len() {
				redactTexts(v.Index(i), redact)
			}
		}
	}
}
