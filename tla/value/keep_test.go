// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// someValues draws values of different shapes.
func someValues(t *rapid.T, most int) []Value {
	out := make([]Value, rapid.IntRange(0, most).Draw(t, "values"))
	for i := range out {
		out[i] = anyShape(t, 3)(t)
	}
	return out
}

// TestCodecIsRestored: a restored Codec encodes as the saved one did, also
// values that are new to both, and decodes what the saved one wrote.
func TestCodecIsRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := NewCodec(), NewCodec()
		values := someValues(t, 20)
		var written [][]byte
		for _, v := range values {
			written = append(written, a.AppendTo(nil, v))
		}
		rest, err := b.Restore(append(a.Save(nil), 7))
		if err != nil || !bytes.Equal(rest, []byte{7}) {
			t.Fatalf("%d bytes are left: %v", len(rest), err)
		}
		for i, v := range append(values, someValues(t, 5)...) {
			x, y := a.AppendTo(nil, v), b.AppendTo(nil, v)
			if !bytes.Equal(x, y) {
				t.Fatalf("%v is %x, and was %x", v, y, x)
			}
			if i < len(values) {
				back, _, err := b.Decode(written[i])
				if err != nil || !Equal(back, v) {
					t.Fatalf("%v was written and %v read: %v", v, back, err)
				}
			}
		}
		if !bytes.Equal(a.Save(nil), b.Save(nil)) {
			t.Fatal("what is saved of the two differs")
		}
	})
}

// TestCodecIsRestoredOnce: a Codec that has numbered something else is not
// restored, nor one from bytes that Save did not write.
func TestCodecIsRestoredOnce(t *testing.T) {
	a := NewCodec()
	a.AppendTo(nil, TupleOf([]Value{String("x"), String("y"), Model("m"), Record([]Field{{"f", Int(1)}})}))
	saved := a.Save(nil)
	other := NewCodec()
	other.AppendTo(nil, String("y"))
	if _, err := other.Restore(saved); err == nil {
		t.Error("another Codec is restored")
	}
	for n := range saved {
		if _, err := NewCodec().Restore(saved[:n]); err == nil {
			t.Errorf("%d of %d bytes are enough", n, len(saved))
		}
	}
}

// FuzzCodecRestore: Restore either refuses bytes that Save did not write or
// makes a Codec that saves the same bytes again; nothing panics.
func FuzzCodecRestore(f *testing.F) {
	a := NewCodec()
	a.AppendTo(nil, TupleOf([]Value{String("x"), Model("m"), Record([]Field{{"f", Int(1)}}), Fn([]Pair{{Int(3), Model("m")}})}))
	f.Add(a.Save(nil))
	f.Add([]byte{0, 0, 1, 2, 0x21, 0x41})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewCodec()
		rest, err := c.Restore(b)
		if err != nil {
			return
		}
		again := NewCodec()
		if _, err := again.Restore(c.Save(nil)); err != nil {
			t.Fatalf("what was restored from %x is saved as %x, which is not restored: %v", b[:len(b)-len(rest)], c.Save(nil), err)
		}
	})
}
