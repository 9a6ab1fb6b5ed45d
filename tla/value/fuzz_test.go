// SPDX-License-Identifier: Apache-2.0

package value

import "testing"

// fuzzBytesMax bounds the inputs of the fuzz targets, so that an input is slow
// only where the package is.
const fuzzBytesMax = 1 << 10

func FuzzParse(f *testing.F) {
	for _, text := range []string{"{1, <<\"a\", TRUE>>}", "(m :> 1 @@ n :> {})", "[a |-> 1..3, b |-> SUBSET {1}]", "[Nat -> Seq(STRING)]",
		"[a : {1}, b : BOOLEAN]", "(1..3) \\X (Int \\cup {m})", "-2147483648", `["x y" |-> "\n\"\\"]`, "1..20 \\cup {30}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > fuzzBytesMax {
			return
		}
		v, err := Parse(text)
		if err != nil {
			return
		}
		printed := v.String()
		w, err := Parse(printed)
		if err != nil {
			t.Fatalf("%s is printed as %s, which is not parsed: %v", text, printed, err)
		}
		if again := w.String(); again != printed {
			t.Fatalf("%s is printed as %s, and that as %s", text, printed, again)
		}
		if err := Catch(func() { Equal(v, w) }); err == nil && !Equal(v, w) {
			t.Fatalf("%s is not %s", text, printed)
		}
		_ = v.JSON()
		_ = v.Pretty(20)
	})
}

func FuzzParseWire(f *testing.F) {
	for _, text := range []string{"{1, 5}", "<<\"a\", TRUE, m>>", "(m :> 1 @@ n :> {})", "[a |-> 1..3]", "(0 :> Nat)"} {
		v, err := Parse(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(AppendWire(nil, v))
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		v, rest, err := ParseWire(buf)
		if err != nil {
			return
		}
		// Only what AppendWire writes is accepted.
		if again := AppendWire(nil, v); string(again) != string(buf[:len(buf)-len(rest)]) {
			t.Fatalf("%x is read as %s, which is written %x", buf, Brief(v), again)
		}
	})
}

func FuzzDecode(f *testing.F) {
	codec := NewCodec(String("a"), Model("m"))
	for _, text := range []string{"{1, 5}", "<<\"a\", TRUE, m>>", "(m :> 1)", "[a |-> 1..3]", "(0 :> Seq(Nat))", "[{1} -> Nat]"} {
		v, err := Parse(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(codec.AppendTo(nil, v))
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		if _, rest, err := codec.Decode(buf); err == nil && len(rest) > len(buf) {
			t.Fatalf("%d bytes are left of %d", len(rest), len(buf))
		}
	})
}
