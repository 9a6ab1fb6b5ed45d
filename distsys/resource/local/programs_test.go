// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/typed"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// plain is a variable that knows values only: Apply, Except, and a copy while a
// section is running. Generated code reaches it through conversions.
type plain struct{ cur, work value.Value }

func (p *plain) Read(_ *distsys.Tx, idx []value.Value) (value.Value, error) {
	v := p.work
	for _, i := range idx {
		v = v.Apply(i)
	}
	return v, nil
}

func (p *plain) Write(_ *distsys.Tx, idx []value.Value, v value.Value) error {
	p.work = p.work.Except(idx, v)
	return nil
}
func (p *plain) PreCommit(*distsys.Tx) error { return nil }
func (p *plain) Commit(*distsys.Tx)          { p.cur = p.work }
func (p *plain) Abort(*distsys.Tx)           { p.work = p.cur }

type (
	seq      = typed.Seq[int32, typed.Ints]
	seqKind  = typed.Seqs[int32, typed.Ints]
	seqs     = typed.Fn[int32, seq, typed.Ints, seqKind]
	seqsKind = typed.Fns[int32, seq, typed.Ints, seqKind]
)

func shape[T any, K typed.Kind[T]]() distsys.Shape[T] {
	var k K
	return distsys.Shape[T]{To: k.Value, From: k.Of}
}

// step is a statement of a random section.
type step func(tx *distsys.Tx, refs []distsys.Ref) error

// statement makes a random one. Every variable holds a function from 0..2 to
// sequences of numbers; a statement uses one as a whole, by function, or by
// element, in a Go type or as a value.
func statement(rng *rand.Rand) (step, string) {
	r, k, n := rng.IntN(3), rng.Int32N(3), rng.Int32N(3)
	if rng.IntN(40) == 0 {
		k = 3 // in no domain
	}
	at := value.Int(k)
	one, all := shape[seq, seqKind](), shape[seqs, seqsKind]()
	switch rng.IntN(8) {
	case 0, 1:
		return func(tx *distsys.Tx, refs []distsys.Ref) error {
			s, err := distsys.Read(tx, refs[r], one, at)
			if err != nil {
				return err
			}
			return distsys.Write(tx, refs[r], one, s.Append(n), at)
		}, fmt.Sprintf("x%d[%d] := Append(@, %d)", r, k, n)
	case 2:
		return func(tx *distsys.Tx, refs []distsys.Ref) error {
			return distsys.Write(tx, refs[r], distsys.Int(), n, at, value.Int(n))
		}, fmt.Sprintf("x%d[%d][%d] := %d", r, k, n, n)
	case 3:
		return func(tx *distsys.Tx, refs []distsys.Ref) error {
			f, err := distsys.Read(tx, refs[r], all)
			if err != nil {
				return err
			}
			return distsys.Write(tx, refs[(r+1)%3], all, f.With(n, f.At(n).Append(7)))
		}, fmt.Sprintf("x%d := [x%d EXCEPT ![%d] = Append(@, 7)]", (r+1)%3, r, n)
	case 4:
		return func(tx *distsys.Tx, refs []distsys.Ref) error {
			v, err := tx.Read(refs[r], at)
			if err != nil {
				return err
			}
			if v.Len() == 0 {
				return distsys.ErrBlocked
			}
			return tx.Write(refs[r], value.Tail(v), value.Int(n))
		}, fmt.Sprintf("x%d[%d] := Tail(x%d[%d])", r, n, r, k)
	case 5:
		return func(tx *distsys.Tx, refs []distsys.Ref) error {
			s, err := distsys.Read(tx, refs[r], one, value.Int(n))
			if err == nil && s.Len() > 3 {
				err = distsys.ErrBlocked
			}
			return err
		}, fmt.Sprintf("await Len(x%d[%d]) <= 3", r, n)
	case 6:
		return func(tx *distsys.Tx, refs []distsys.Ref) error {
			return distsys.Write(tx, refs[r], one, seq{}, value.Int(n))
		}, fmt.Sprintf("x%d[%d] := <<>>", r, n)
	}
	return func(tx *distsys.Tx, refs []distsys.Ref) error {
		b, err := tx.Choose(2)
		if err == nil && b == 0 {
			err = distsys.ErrBlocked
		}
		return err
	}, "either await FALSE or skip"
}

// TestProgramsAsOnValues runs random sections, of which many abort after some
// of their writes, on the resources of this package and on plain values.
func TestProgramsAsOnValues(t *testing.T) {
	first := func() value.Value {
		var pairs []value.Pair
		for i := range int32(3) {
			pairs = append(pairs, value.Pair{Key: value.Int(i), Val: value.Tuple(value.Int(i))})
		}
		return value.Fn(pairs)
	}
	commits, blocked, failed := uint64(0), uint64(0), 0
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var sections [][]step
		text := ""
		for i := range 12 {
			var steps []step
			for range 1 + rng.IntN(4) {
				s, line := statement(rng)
				steps = append(steps, s)
				text += fmt.Sprintf("%d: %s\n", i, line)
			}
			sections = append(sections, steps)
		}
		run := func(res []distsys.Resource) (*distsys.Instance[int], error) {
			var refs []distsys.Ref
			for i, r := range res {
				refs = append(refs, distsys.NewRef(fmt.Sprint("x", i), r))
			}
			a := &distsys.Archetype[int]{Name: "A"}
			for i, steps := range sections {
				next := distsys.Label(i + 1)
				if i == len(sections)-1 {
					next = distsys.Done
				}
				a.Sections = append(a.Sections, distsys.Section[int]{Name: fmt.Sprint("l", i), Run: func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
					for _, s := range steps {
						if err := s(tx, refs); err != nil {
							return 0, err
						}
					}
					return next, nil
				}})
			}
			in, err := distsys.New(a, value.Int(1), 0, distsys.Options{Env: env.Env{Clock: frozen{}, Random: env.Seeded(seed)}})
			if err != nil {
				t.Fatal(err)
			}
			attempts(in)
			return in, in.Err()
		}
		mine := []distsys.Resource{local.NewShared(first()), local.NewVariable(first()), local.NewShared(first())}
		theirs := []distsys.Resource{&plain{first(), first()}, &plain{first(), first()}, &plain{first(), first()}}
		got, gotErr := run(mine)
		want, wantErr := run(theirs)
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || got.At() != want.At() {
			t.Fatalf("%sgot  %s %v\nwant %s %v", text, got.At(), gotErr, want.At(), wantErr)
		}
		for i, r := range mine {
			v := r.(interface{ Value() value.Value }).Value()
			if w := theirs[i].(*plain).cur; v.String() != w.String() {
				t.Fatalf("%sx%d is %v, want %v", text, i, v, w)
			}
		}
		commits += got.Metrics().Commits
		blocked += got.Metrics().Blocked
		if gotErr != nil {
			failed++
		}
	}
	if commits < 1000 || blocked < 500 || failed < 50 {
		t.Errorf("%d sections committed, %d attempts blocked, %d runs failed: the programs do too little", commits, blocked, failed)
	}
}
