// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func instance[S any](t testing.TB, self int, s S, o distsys.Options, run func(s *S, tx *distsys.Tx) (distsys.Label, error)) *distsys.Instance[S] {
	t.Helper()
	o.Env = osenv.New()
	in, err := distsys.New(&distsys.Archetype[S]{Name: "A", Sections: []distsys.Section[S]{{Name: "l", Run: run}}}, value.Int(int32(self)), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestSharedIsSerializable moves money between accounts, in several instances,
// while others add it all up: what they see is always the whole.
func TestSharedIsSerializable(t *testing.T) {
	const accounts, movers, auditors, rounds, each = 5, 3, 2, 1500, 100
	var refs []distsys.Ref
	var vars []*local.Shared
	for range accounts {
		s := local.NewShared(value.Int(each))
		vars = append(vars, s)
		refs = append(refs, distsys.NewRef("account", s))
	}
	var procs []distsys.Process
	for i := range movers {
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		procs = append(procs, instance(t, i, 0, distsys.Options{}, func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			if *n == rounds {
				return distsys.Done, nil
			}
			*n++
			from, to := rng.IntN(accounts), rng.IntN(accounts)
			a, err := distsys.Read(tx, refs[from], distsys.Int())
			if err != nil {
				return 0, err
			}
			if err := distsys.Write(tx, refs[from], distsys.Int(), a-1); err != nil {
				return 0, err
			}
			b, err := distsys.Read(tx, refs[to], distsys.Int())
			if err != nil {
				return 0, err
			}
			return 0, distsys.Write(tx, refs[to], distsys.Int(), b+1)
		}))
	}
	for i := range auditors {
		procs = append(procs, instance(t, 10+i, 0, distsys.Options{}, func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			if *n == rounds {
				return distsys.Done, nil
			}
			*n++
			sum := int32(0)
			for _, r := range refs {
				v, err := distsys.Read(tx, r, distsys.Int())
				if err != nil {
					return 0, err
				}
				sum += v
			}
			return 0, tx.Assert(sum == accounts*each, "sum", "")
		}))
	}
	if err := distsys.Run(within(t), procs...); err != nil {
		t.Fatal(err)
	}
	sum := int32(0)
	for _, v := range vars {
		sum += v.Value().AsInt()
	}
	if sum != accounts*each {
		t.Errorf("the accounts have %d, want %d", sum, accounts*each)
	}
}

// recorder keeps events in memory.
type recorder struct{ events []tracelog.Event }

func (r *recorder) Record(e *tracelog.Event) error {
	r.events = append(r.events, *e)
	return nil
}

// TestClocksOrderSections: whoever sees a value has the clock of who wrote it.
func TestClocksOrderSections(t *testing.T) {
	x := local.NewShared(value.Int(0))
	ref := distsys.NewRef("x", x)
	var rs []*recorder
	var procs []distsys.Process
	const rounds = 50
	for i := range 3 {
		r := &recorder{}
		rs = append(rs, r)
		procs = append(procs, instance(t, i, 0, distsys.Options{Recorder: r}, func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			if *n == rounds {
				return distsys.Done, nil
			}
			*n++
			v, err := distsys.Read(tx, ref, distsys.Int())
			if err != nil {
				return 0, err
			}
			return 0, distsys.Write(tx, ref, distsys.Int(), v+1)
		}))
	}
	if err := distsys.Run(within(t), procs...); err != nil {
		t.Fatal(err)
	}
	// Each increment saw exactly one before it; its clock is behind that one's.
	byRead := map[string]tracelog.Clock{}
	byWrite := map[string]tracelog.Clock{}
	for _, r := range rs {
		for _, e := range r.events {
			for _, el := range e.Elements {
				if el.Op == tracelog.Read {
					byRead[el.Value] = e.Clock
				} else {
					byWrite[el.Value] = e.Clock
				}
			}
		}
	}
	if len(byRead) != 3*rounds || len(byWrite) != 3*rounds {
		t.Fatalf("%d values read, %d written, want %d", len(byRead), len(byWrite), 3*rounds)
	}
	for v, c := range byRead {
		if v != "0" && !byWrite[v].LessEq(c) {
			t.Errorf("%s was read at %v and written at %v", v, c, byWrite[v])
		}
	}
}

// TestIndices: variables that hold functions are read and written in parts.
func TestIndices(t *testing.T) {
	f := value.Tuple(value.Int(10), value.Tuple(value.Int(20), value.Int(30)))
	for name, res := range map[string]distsys.Resource{"variable": local.NewVariable(f), "shared": local.NewShared(f)} {
		t.Run(name, func(t *testing.T) {
			ref := distsys.NewRef("f", res)
			in := instance(t, 1, "", distsys.Options{}, func(s *string, tx *distsys.Tx) (distsys.Label, error) {
				if err := tx.Write(ref, value.Int(31), value.Int(2), value.Int(2)); err != nil {
					return 0, err
				}
				if err := tx.Write(ref, value.Int(11), value.Int(1)); err != nil {
					return 0, err
				}
				part, err := tx.Read(ref, value.Int(2), value.Int(2))
				if err != nil {
					return 0, err
				}
				all, err := tx.Read(ref)
				*s = part.String() + " " + all.String()
				return distsys.Done, err
			})
			if err := in.Run(within(t)); err != nil {
				t.Fatal(err)
			}
			if got, want := in.State(), "31 <<11, <<20, 31>>>>"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestMapMakesEachOnce(t *testing.T) {
	made := 0
	m := local.NewMap(func(k value.Value) (distsys.Resource, error) {
		made++
		return local.NewVariable(k), nil
	})
	ref := distsys.NewRef("m", m)
	in := instance(t, 1, 0, distsys.Options{}, func(n *int, tx *distsys.Tx) (distsys.Label, error) {
		if *n == 10 {
			return distsys.Done, nil
		}
		*n++
		for i := range int32(3) {
			v, err := distsys.Read(tx, ref, distsys.Int(), value.Int(i))
			if err != nil {
				return 0, err
			}
			if v != i+10*int32(*n-1) {
				t.Errorf("m[%d] = %d in turn %d", i, v, *n)
			}
			if err := distsys.Write(tx, ref, distsys.Int(), v+10, value.Int(i)); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if made != 3 {
		t.Errorf("%d resources made for 3 indices", made)
	}
}

func TestConstantCannotBeWritten(t *testing.T) {
	ref := distsys.NewRef("c", local.NewConstant(value.Int(1)))
	in := instance(t, 1, 0, distsys.Options{}, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(ref, value.Int(2))
	})
	if err := in.Run(within(t)); err == nil {
		t.Error("a constant was written to")
	}
}

func TestDummyTakesWrites(t *testing.T) {
	ref := distsys.NewRef("d", local.NewDummy(value.Int(1)))
	in := instance(t, 1, int32(0), distsys.Options{}, func(s *int32, tx *distsys.Tx) (distsys.Label, error) {
		if err := tx.Write(ref, value.Int(2)); err != nil {
			return 0, err
		}
		v, err := distsys.Read(tx, ref, distsys.Int())
		*s = v
		return distsys.Done, err
	})
	if err := in.Run(within(t)); err != nil || in.State() != 1 {
		t.Errorf("read %d, %v; want 1", in.State(), err)
	}
}

// doubled embeds a variable and reads it in its own way.
type doubled struct{ *local.Shared }

func (d doubled) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	v, err := d.Shared.Read(tx, idx)
	if err != nil {
		return v, err
	}
	return value.Int(2 * v.AsInt()), nil
}

// TestEmbeddedResourcesAreOverridden: generated code reads what embeds a
// variable by the Read that it has, not by the variable's.
func TestEmbeddedResourcesAreOverridden(t *testing.T) {
	ref := distsys.NewRef("d", doubled{local.NewShared(value.Int(21))})
	in := instance(t, 1, int32(0), distsys.Options{}, func(s *int32, tx *distsys.Tx) (distsys.Label, error) {
		v, err := distsys.Read(tx, ref, distsys.Int())
		*s = v
		return distsys.Done, err
	})
	if err := in.Run(within(t)); err != nil || in.State() != 42 {
		t.Errorf("read %d, %v; want 42", in.State(), err)
	}
}
