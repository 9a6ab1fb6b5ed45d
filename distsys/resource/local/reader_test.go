// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestWritersComeAfterReaders: a section that writes comes, by its clock, after
// those that have read the value before.
func TestWritersComeAfterReaders(t *testing.T) {
	ref := distsys.NewRef("x", local.NewShared(value.Int(0)))
	var read, written recorder
	reader := instance(t, 1, 0, distsys.Options{Recorder: &read}, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		_, err := tx.Read(ref)
		return distsys.Done, err
	})
	writer := instance(t, 2, 0, distsys.Options{Recorder: &written}, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(ref, value.Int(1))
	})
	for _, in := range []*distsys.Instance[int]{reader, writer} {
		if err := in.Run(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	if len(read.events) != 2 || len(written.events) != 2 { // the first says how the variables begin
		t.Fatalf("%d and %d events, want two each", len(read.events), len(written.events))
	}
	if a, b := read.events[1].Clock, written.events[1].Clock; !a.LessEq(b) || b.LessEq(a) {
		t.Errorf("read at %v, then written at %v", a, b)
	}
}

// TestNobodyWritesBesideAReader: while a section is running that has read the
// value, no other one writes it.
func TestNobodyWritesBesideAReader(t *testing.T) {
	x := local.NewShared(value.Int(0))
	ref := distsys.NewRef("x", x)
	writer := instance(t, 2, 0, distsys.Options{}, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(ref, value.Int(1))
	})
	reader := instance(t, 1, 0, distsys.Options{}, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		if _, err := tx.Read(ref); err != nil {
			return 0, err
		}
		for range 5 {
			if writer.Step() == distsys.Finished {
				t.Error("it was written")
			}
		}
		return distsys.Done, nil
	})
	for _, in := range []*distsys.Instance[int]{reader, writer} {
		if err := in.Run(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	if n := x.Value().AsInt(); n != 1 {
		t.Errorf("the value is %d in the end", n)
	}
}
