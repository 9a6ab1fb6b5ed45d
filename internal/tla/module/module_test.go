// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/tla/module"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
)

func TestNames(t *testing.T) {
	names := module.Names()
	if !slices.IsSorted(names) || len(names) < 30 {
		t.Fatalf("%d modules: %v", len(names), names)
	}
	for _, n := range names {
		text, ok := module.Source(n)
		if !ok || !bytes.Contains(text, []byte("- MODULE "+n+" -")) {
			t.Errorf("%s has no text of its own", n)
		}
	}
	if _, ok := module.Source("Nothing"); ok {
		t.Error("there is a module Nothing")
	}
}

// definition is the left side of a definition that starts a line.
var definition = regexp.MustCompile(`(?m)^(.*?) == *(.*)(?:\n\\\* (native))?$`)

// defined maps the operators that a module defines at the start of a line to
// whether only Go implements them.
func defined(text []byte) map[string]bool {
	out := map[string]bool{}
	for _, d := range definition.FindAllSubmatch(text, -1) {
		name := operatorName(string(d[1]))
		if name == "" {
			continue
		}
		out[name] = string(d[2]) == "TRUE" && string(d[3]) == "native"
	}
	return out
}

var (
	infix  = regexp.MustCompile(`^(?:\w+) (\S+) (?:\w+)$`)
	prefix = regexp.MustCompile(`^(-\.) \w+$`)
	plain  = regexp.MustCompile(`^(\w+)(?:\(.*\))?$`)
)

func operatorName(left string) string {
	for _, form := range []*regexp.Regexp{plain, infix, prefix} {
		if m := form.FindStringSubmatch(left); m != nil {
			return m[1]
		}
	}
	return ""
}

// TestNative: an operator is Primitive exactly if its module says so, and Go
// implements only operators that a module defines.
func TestNative(t *testing.T) {
	for _, name := range module.Names() {
		text, _ := module.Source(name)
		for op, left := range defined(text) {
			known := stdlib.Lookup(name, op)
			switch {
			case left && known == nil:
				t.Errorf("%s!%s is left to Go, which does not know it", name, op)
			case known != nil && known.Primitive != left:
				t.Errorf("%s!%s: primitive %v, left to Go %v", name, op, known.Primitive, left)
			}
		}
	}
	for _, op := range stdlib.All() {
		text, ok := module.Source(op.Module)
		if _, has := defined(text)[op.Name]; !ok || !has {
			t.Errorf("Go knows %s!%s, which the module does not define", op.Module, op.Name)
		}
	}
}
