// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"fmt"
	"io"
)

// Describe writes a superblock for people, one thing a line.
func (s Superblock) Describe(w io.Writer) error {
	var b bytes.Buffer
	closed := "no"
	if s.Clean {
		closed = "yes"
	}
	merger := "none"
	if s.Merger != "" {
		merger = fmt.Sprintf("%q", s.Merger)
	}
	fmt.Fprintf(&b, "store            %x\n", s.UUID)
	fmt.Fprintf(&b, "superblock       %d\n", s.Seq)
	fmt.Fprintf(&b, "epoch            %d\n", s.Epoch)
	if s.Life != 0 {
		fmt.Fprintf(&b, "life             %014x\n", s.Life)
	}
	fmt.Fprintf(&b, "made or closed   %s\n", closed)
	fmt.Fprintf(&b, "in the tree      messages up to %d\n", s.Cut)
	fmt.Fprintf(&b, "journal          from segment %d on, session %016x, after checksum %08x\n", s.Segment, s.Chain.Session, s.Chain.Prev)
	fmt.Fprintf(&b, "object ids       up to %d\n", s.NextID)
	fmt.Fprintf(&b, "data file        %d pages\n", s.Pages)
	fmt.Fprintf(&b, "merger           %s\n", merger)
	if s.Features&Keyspaces != 0 {
		fmt.Fprintf(&b, "has              keyspaces\n")
	}
	for _, c := range s.Chunks {
		what := "changes"
		if c.Full {
			what = "table"
		}
		fmt.Fprintf(&b, "%-16s chunk %d at byte %d, %d bytes, checksum %08x\n", what, c.Seq, c.Addr, c.Len, c.CRC)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Describe writes the table for people: a line for each object, followed by the
// output of body for it, if body is given.
func (t *Table) Describe(w io.Writer, body func(w io.Writer, o Object)) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "table of %d objects, as of chunk %d with checksum %08x\n", t.live, t.seq, t.link)
	for _, o := range t.Objects() {
		state := ""
		if t.objects[o.ID].changed {
			state = ", changed since"
		}
		fmt.Fprintf(&b, "%v %d of epoch %d, %d bytes%s\n", o.Kind, o.ID, o.Epoch, len(o.Body), state)
		if body != nil {
			body(&b, o)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
