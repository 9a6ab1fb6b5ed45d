// SPDX-License-Identifier: Apache-2.0

package block

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

var update = flag.Bool("update", false, "write the golden files of this version")

// goldenMessages are of all kinds; the values are what compresses.
func goldenMessages() []message.Message {
	value := bytes.Repeat([]byte("ashlar "), 100)
	var out []message.Message
	for i := range 12 {
		out = append(out, message.Message{
			Key: []byte{'k', 'e', 'y', byte('a' + i/3)}, Value: value[i*7:], Seq: message.Seq(1000 - i), Kind: message.Kind(i%5 + 1),
		})
	}
	out[0].Value = nil
	out[11].Seq = message.MaxSeq - 1
	out[11].Key = append(out[11].Key, 0xff, 0)
	return out
}

// TestGolden opens files that version 1 wrote; such files are never written again.
// Uncompressed ones are also made again, byte for byte.
func TestGolden(t *testing.T) {
	var c Coder
	for _, how := range []Compression{None, S2, Zstd} {
		name := filepath.Join("testdata", "v1-"+how.String()+".bin")
		made, _, n := build(t, how, &c, goldenMessages())
		if *update {
			if err := os.WriteFile(name, made, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if how == None && !bytes.Equal(made, golden) {
			t.Error("what is written now is not what version 1 wrote")
		}
		h, err := ReadHeader(golden)
		if err != nil || h.ID != id || h.Compression != how {
			t.Fatal(h, err)
		}
		b, err := Open(golden, h.Want, make([]byte, MaxBytes), &c)
		if err != nil {
			t.Fatal(err)
		}
		check(t, &b, goldenMessages()[:n])
	}
}
