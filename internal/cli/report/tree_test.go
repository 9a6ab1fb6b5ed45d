// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"
)

func TestTreeString(t *testing.T) {
	for _, tt := range []struct{ json, want string }{
		{`3`, `3`},
		{`true`, `TRUE`},
		{`"a\"b\n"`, `"a\"b\n"`},
		{`[]`, `<<>>`},
		{`[1,[2,"x"]]`, `<<1, <<2, "x">>>>`},
		{`{"b":1,"a":{"#model":"m1"}}`, `[b |-> 1, a |-> m1]`},
		{`{"#set":[]}`, `{}`},
		{`{"#set":[1,{"#set":[2]}]}`, `{1, {2}}`},
		{`{"#map":[[{"#model":"p"},1],[[1,2],2]]}`, `(p :> 1 @@ <<1, 2>> :> 2)`},
		{`{"#text":"Nat"}`, `Nat`},
		{`{"#set":1,"x":2}`, `("#set" :> 1 @@ "x" :> 2)`},
		{`{"p&\"q":1,"_1a":[{"1":2}]}`, `("p&\"q" :> 1 @@ "_1a" :> <<("1" :> 2)>>)`},
	} {
		got, err := parseTree(tt.json)
		if err != nil || got.String() != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.json, got, err, tt.want)
		}
	}
	for _, bad := range []string{``, `[`, `{"a"`, `{"#map":[[1]]}`, `]`} {
		if got, err := parseTree(bad); err == nil {
			t.Errorf("%q is read as %s", bad, got)
		}
	}
}

func TestDifferences(t *testing.T) {
	for _, tt := range []struct{ was, now, want string }{
		{`1`, `1`, ``},
		{`1`, `2`, `x = 2 (was 1)`},
		{`1`, `"1"`, `x = "1" (was 1)`},
		{`{"a":1,"b":2}`, `{"a":1,"b":3}`, `x.b = 3 (was 2)`},
		{`{"a b":1,"b":2}`, `{"a b":3,"b":2}`, `x["a b"] = 3 (was 1)`},
		{`{"a":{"b":[1,2]}}`, `{"a":{"b":[1,5]}}`, `x.a.b[2] = 5 (was 2)`},
		{`{"a":1}`, `{"b":1}`, `x = [b |-> 1] (was [a |-> 1])`},
		{`{"#map":[["p",1],["q",2]]}`, `{"#map":[["q",4],["r",2]]}`, `x["q"] = 4 (was 2); x["r"] = 2; x["p"] is gone (was 1)`},
		{`{"#set":[1,2]}`, `{"#set":[2,3,4]}`, `x gained 3, 4 and lost 1`},
		{`{"#set":[]}`, `{"#set":[1]}`, `x = {1} (was {})`},
		{`{"#set":[1]}`, `{"#set":[]}`, `x = {} (was {1})`},
		{`[1,2]`, `[1,2,3]`, `x appended 3`},
		{`[1,2,3]`, `[3]`, `x dropped from its front 1, 2`},
		{`[1,2,3]`, `[1,2]`, `x = <<1, 2>> (was <<1, 2, 3>>)`},
		{`[]`, `[1]`, `x = <<1>> (was <<>>)`},
		{`[{"#set":[1,2]},5]`, `[{"#set":[1]},5]`, `x[1] lost 2`},
	} {
		was, err := parseTree(tt.was)
		if err != nil {
			t.Fatal(err)
		}
		now, err := parseTree(tt.now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range differences("x", was, now) {
			s := c.String()
			if c.Was != "" {
				s += " (was " + c.Was + ")"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("from %s to %s:\n%s, want\n%s", tt.was, tt.now, s, tt.want)
		}
	}
}
