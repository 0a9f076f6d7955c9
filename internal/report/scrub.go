package report

import "reflect"

// scrub makes every string inside v visible, in place: v is a pointer to the
// value that a writer is about to encode. One place for all of them means that
// a field added later cannot be forgotten.
func scrub(v any) { scrubValue(reflect.ValueOf(v)) }

func scrubValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scrubValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scrubValue(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k >= reflect.Bool && k <= reflect.Complex128 {
			return // numbers
		}
		for i := range v.Len() {
			scrubValue(v.Index(i))
		}
	case reflect.String:
		if s := v.String(); v.CanSet() && !plain(s) {
			v.SetString(Visible(s))
		}
	}
}

// Scrub is scrub for the packages that write documents of their own.
func Scrub(v any) { scrub(v) }
