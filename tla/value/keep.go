// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Save appends the tables of the Codec, so that another Codec can give the same
// encodings: the strings, the model values and the encoded domains, each
// preceded by its length.
func (c *Codec) Save(buf []byte) []byte {
	for _, t := range []*symbols{&c.strings, &c.models} {
		list := t.values()
		buf = binary.AppendUvarint(buf, uint64(len(list)))
		for _, v := range list {
			buf = appendText(buf, v.text())
		}
	}
	list := c.domains.values()
	buf = binary.AppendUvarint(buf, uint64(len(list)))
	for _, v := range list {
		buf = appendText(buf, string(c.AppendTo(nil, v)))
	}
	return buf
}

func appendText(buf []byte, s string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

// Restore loads what Save wrote into a Codec that has numbered nothing yet, so
// that it encodes as the saved one did. It returns the remaining bytes. It
// fails if the Codec has already numbered something else or the bytes are not
// what Save writes.
func (c *Codec) Restore(buf []byte) ([]byte, error) {
	d := decoder{codec: c, buf: buf}
	text := func() string {
		n := d.length()
		if n > len(d.buf) {
			d.fail("a text of %d bytes with %d left", n, len(d.buf))
			return ""
		}
		s := string(d.buf[:n])
		d.buf = d.buf[n:]
		return s
	}
	number := func(t *symbols, i int, key string, v Value, limit int) {
		if n, ok := t.add(key, v, limit); d.err == nil && (!ok || int(n) != i) {
			d.fail("%s has the number %d, want %d", Brief(v), n, i)
		}
	}
	for i := range d.length() {
		s := text()
		number(&c.strings, i, s, String(s), math.MaxInt32)
	}
	for i := range d.length() {
		s := text()
		number(&c.models, i, s, Model(s), math.MaxInt32)
	}
	for i := range d.length() {
		key := text()
		if d.err != nil {
			break
		}
		v, rest, err := c.Decode([]byte(key))
		if err != nil || len(rest) > 0 {
			return nil, fmt.Errorf("domain %d: %d bytes too many: %w", i, len(rest), err)
		}
		number(&c.domains, i, key, v, DomainsMax)
	}
	if d.err != nil {
		return nil, d.err
	}
	return d.buf, nil
}
