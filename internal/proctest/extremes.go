package proctest

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
)

// Extremes gives copies of a value, each with one integer in it, however deep, set to an extreme. The
// value is copied as JSON, so it should have something in each of its lists and pointers.
func Extremes[T any](t testing.TB, value T, use func(name string, x T)) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for n := 0; ; n++ {
		for _, extreme := range []uint64{math.MaxUint64, math.MaxInt64, 1 << 63, 1 << 53, 0} { // also -1, the largest and the least
			var x T
			if err := json.Unmarshal(text, &x); err != nil {
				t.Fatal(err)
			}
			left := n
			name := setNth(reflect.ValueOf(&x), "", &left, extreme)
			if name == "" {
				if found == 0 {
					t.Errorf("%T has no integers", value)
				}
				return
			}
			found++
			use(fmt.Sprintf("%s = %d", name, int64(extreme)), x)
		}
	}
}

// setNth sets the n-th integer of a value and gives its name, or nothing if there are fewer.
func setNth(v reflect.Value, name string, n *int, to uint64) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return setNth(v.Elem(), name, n, to)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return ""
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				if found := setNth(v.Field(i), name+"."+f.Name, n, to); found != "" {
					return found
				}
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if found := setNth(v.Index(i), fmt.Sprintf("%s[%d]", name, i), n, to); found != "" {
				return found
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			x := reflect.New(v.Type().Elem()).Elem()
			x.Set(v.MapIndex(key))
			if found := setNth(x, fmt.Sprintf("%s[%v]", name, key), n, to); found != "" {
				v.SetMapIndex(key, x)
				return found
			}
		}
	case reflect.Int, reflect.Int64, reflect.Int32:
		if *n--; *n < 0 && v.CanSet() {
			v.SetInt(int64(to))
			return name
		}
	case reflect.Uint, reflect.Uint64, reflect.Uint32:
		if *n--; *n < 0 && v.CanSet() {
			v.SetUint(to)
			return name
		}
	}
	return ""
}
