package formats

import (
	"encoding/json"
	"reflect"
)

// Texts changes every text that v points at: those of exported fields, lists and what is
// below pointers. Members that we do not know are changed as JSON; one that is no JSON then
// becomes null. So nobody has to list the fields that may hold a secret.
func Texts(v any, change func(string) string) { eachText(reflect.ValueOf(v), change) }

func eachText(v reflect.Value, change func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		eachText(v.Elem(), change)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachText(v.Field(i), change)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), change)
		}
	case reflect.Map:
		for name, value := range v.Seq2() {
			if raw, ok := value.Interface().(Raw); ok {
				changed := Raw(change(string(raw)))
				if !json.Valid(changed) {
					changed = Raw("null")
				}
				v.SetMapIndex(name, reflect.ValueOf(changed))
			}
		}
	case reflect.String:
		if was := v.String(); was != "" {
			v.SetString(change(was))
		}
	}
}
