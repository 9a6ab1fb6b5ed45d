// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"bytes"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestPrintOnCommitOnly(t *testing.T) {
	var out bytes.Buffer
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		k, err := tx.Choose(3)
		if err != nil {
			return 0, err
		}
		tx.Print(value.Int(int32(k)))
		if k != 2 {
			return distsys.Blocked()
		}
		return distsys.Done, nil
	}), 0, distsys.Options{Print: &out})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if out.String() != "2\n" {
		t.Errorf("printed %q", out.String())
	}
}

// lookAtPrinted is a variable that notes what had been printed when it
// committed.
type lookAtPrinted struct {
	*local.Variable
	out  *bytes.Buffer
	seen []string
}

func (l *lookAtPrinted) Commit(tx *distsys.Tx) {
	l.seen = append(l.seen, l.out.String())
	l.Variable.Commit(tx)
}

// TestPrintBeforeCommit has others print after what they have seen.
func TestPrintBeforeCommit(t *testing.T) {
	var out bytes.Buffer
	v := &lookAtPrinted{Variable: local.NewVariable(value.Int(0)), out: &out}
	ref := distsys.NewRef("v", v)
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		tx.Print(value.String("first"))
		return distsys.Done, tx.Write(ref, value.Int(1))
	}), 0, distsys.Options{Print: &out})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if len(v.seen) != 1 || v.seen[0] != "\"first\"\n" {
		t.Errorf("printed before the commit: %q", v.seen)
	}
}
