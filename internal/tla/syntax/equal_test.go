// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"reflect"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// difference describes where two trees differ except in spans; it is "" if they
// do not. A span that is the only trace of something (a proof, a region) must
// be valid in both or in neither.
func difference(a, b any) string {
	return differ("", reflect.ValueOf(a), reflect.ValueOf(b))
}

func differ(at string, a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() {
		return fmt.Sprintf("%s: one is nil", at)
	}
	if !a.IsValid() {
		return ""
	}
	if a.Type() != b.Type() {
		return fmt.Sprintf("%s: %s and %s", at, a.Type(), b.Type())
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() != b.IsNil() {
			return fmt.Sprintf("%s: one is nil", at)
		}
		if a.IsNil() {
			return ""
		}
		return differ(at, a.Elem(), b.Elem())
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[source.Span]() {
			if av, bv := !a.FieldByName("File").IsNil(), !b.FieldByName("File").IsNil(); av != bv {
				return fmt.Sprintf("%s: span valid %v and %v", at, av, bv)
			}
			return ""
		}
		if a.Type() == reflect.TypeFor[place]() {
			return ""
		}
		for i := range a.NumField() {
			if d := differ(at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d elements", at, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	}
	if !a.Equal(b) {
		return fmt.Sprintf("%s: %v and %v", at, a, b)
	}
	return ""
}
