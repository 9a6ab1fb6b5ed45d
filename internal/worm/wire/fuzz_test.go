// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzDecode: no payload of any type does harm, and an accepted payload is encoded again
// as the same bytes.
func FuzzDecode(f *testing.F) {
	for _, w := range examples() {
		var e Encoder
		must(f, w.encode(&e))
		f.Add(byte(w.typ), e.Bytes()[headLen:e.Len()-tailLen])
	}
	f.Fuzz(func(t *testing.T, typ byte, payload []byte) {
		w, err := decode(Frame{Type(typ), payload})
		if err != nil || !Type(typ).valid() || w.hello.Version > Version {
			return
		}
		var e Encoder
		must(t, w.encode(&e))
		if got := e.Bytes()[headLen : e.Len()-tailLen]; !bytes.Equal(got, payload) {
			t.Errorf("%x is accepted and encoded as %x", payload, got)
		}
	})
}

// FuzzScanner: no stream does harm, in whatever pieces it arrives, and the pieces make no
// difference.
func FuzzScanner(f *testing.F) {
	var e Encoder
	for _, w := range examples() {
		must(f, w.encode(&e))
	}
	f.Add(e.Bytes(), uint16(7), false)
	f.Add(e.Bytes(), uint16(64), true)
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16, mend bool) {
		if mend && len(stream) >= frameMin { // so that some get past the checksum
			binary.LittleEndian.PutUint32(stream, uint32(len(stream)-lengthLen))
			binary.LittleEndian.PutUint32(stream[len(stream)-tailLen:], checksum(stream[:len(stream)-tailLen]))
		}
		scan := func(piece int) (out []byte, last error) {
			var s Scanner
			for b := bytes.Clone(stream); len(b) > 0 && last == nil; {
				n := min(piece, len(b))
				s.Feed(b[:n])
				b = b[n:]
				for {
					f, ok, err := s.Next()
					if last = err; !ok {
						break
					}
					out = append(append(out, byte(f.Type)), f.Payload...)
					_, _ = decode(f)
				}
			}
			return out, last
		}
		whole, err1 := scan(len(stream))
		parts, err2 := scan(int(piece)%100 + 1)
		if !bytes.Equal(whole, parts) || (err1 == nil) != (err2 == nil) {
			t.Errorf("as a whole: %x, %v; in pieces: %x, %v", whole, err1, parts, err2)
		}
	})
}
