// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
)

// The program of these tests, by hand: a leader asks three voters whether they have
// put down a command, and answers the client when all have. Voters put it down on the
// disk, and say so a tick later. The leader asks again now and then.
const (
	relCommand = iota // input(client, id, v)
	relDone           // output(id, v)
	relAsk            // leader to voters (client, id, v)
	relYes            // voter to leader (voter, client, id, v)
	relKept           // durable (client, id, v)
)

const voters = 3

func voteProgram() *rt.Program {
	node, num, text := rt.Column{Name: "c", Type: rt.Type{Kind: rt.KindNode}}, rt.Column{Name: "id", Type: rt.Type{Kind: rt.KindU64}}, rt.Column{Name: "v", Type: rt.Type{Kind: rt.KindBytes}}
	key := []rt.Column{node, num, text}
	return &rt.Program{Name: "vote", Hash: 0x70e, Relations: []rt.Relation{
		{Name: "command", Kind: rt.Input, Columns: key},
		{Name: "done", Kind: rt.Output, Columns: []rt.Column{num, text}},
		{Name: "ask", Kind: rt.Message, Columns: key},
		{Name: "yes", Kind: rt.Message, Columns: append([]rt.Column{node}, key...)},
		{Name: "kept", Kind: rt.Durable, Columns: key},
	}, Components: []rt.ComponentType{
		{Name: "leader", Of: "leader", Instances: 1, Partitions: 1, Timers: []rt.Timer{{Name: "again", Every: 200 * time.Millisecond}},
			New: func(who rt.Identity, _ map[string][][]byte) (rt.Component, error) {
				return &leader{asked: map[string]*asked{}}, nil
			}},
		{Name: "voter", Of: "voter", Instances: voters, Partitions: 1, Durable: true,
			New: func(who rt.Identity, _ map[string][][]byte) (rt.Component, error) {
				return &voter{who: who, kept: map[string]bool{}}, nil
			}},
	}}
}

func voterNode(i int) string { return fmt.Sprint("voter/", i) }

type asked struct {
	client string
	id     uint64
	v      string
	from   []string
}

func (a *asked) row() rt.Row {
	r := rt.RowTo(nil)
	r.Text(a.client)
	r.U64(a.id)
	r.Text(a.v)
	return r
}

type leader struct {
	asked map[string]*asked
	order []string
	fresh []*asked
	done  []*asked
	timer bool
}

func (l *leader) Deliver(relation int, row []byte) error {
	r := rt.Read(row)
	switch relation {
	case relCommand:
		a := &asked{client: string(r.Bytes()), id: r.U64(), v: string(r.Bytes())}
		if err := r.End(); err != nil {
			return err
		}
		if k := string(row); l.asked[k] == nil {
			l.asked[k] = a
			l.order = append(l.order, k)
			l.fresh = append(l.fresh, a)
		}
	case relYes:
		from := string(r.Bytes())
		k := &asked{client: string(r.Bytes()), id: r.U64(), v: string(r.Bytes())}
		if err := r.End(); err != nil {
			return err
		}
		key := string(k.row().Bytes())
		if a := l.asked[key]; a != nil && !slices.Contains(a.from, from) {
			if a.from = append(a.from, from); len(a.from) == voters {
				l.done = append(l.done, a)
				delete(l.asked, key)
				l.order = slices.DeleteFunc(l.order, func(o string) bool { return o == key })
			}
		}
	default:
		return fmt.Errorf("relation %d does not come to a leader", relation)
	}
	return nil
}

func (l *leader) Timer(int)     { l.timer = true }
func (l *leader) Pending() bool { return false }

func (l *leader) ask(out *rt.Out, a *asked) {
	for i := range voters {
		out.Sent = append(out.Sent, rt.Sent{To: voterNode(i), Relation: relAsk, Row: a.row().Bytes()})
	}
}

func (l *leader) Tick(out *rt.Out) {
	for _, a := range l.fresh {
		l.ask(out, a)
	}
	for _, a := range l.done {
		r := rt.RowTo(nil)
		r.U64(a.id)
		r.Text(a.v)
		out.Sent = append(out.Sent, rt.Sent{To: a.client, Relation: relDone, Row: r.Bytes()})
	}
	l.fresh, l.done = nil, nil
	if l.timer {
		l.timer = false
		l.Resend(out)
	}
}

func (l *leader) Resend(out *rt.Out) {
	for _, k := range l.order {
		l.ask(out, l.asked[k])
	}
}

func (l *leader) Restore(rt.Change) error { return fmt.Errorf("a leader keeps nothing") }
func (l *leader) Snapshot(*rt.Out)        {}

type voter struct {
	who        rt.Identity
	kept       map[string]bool
	order      []string
	come, next []string // to be put down; to be said
}

func (v *voter) Deliver(relation int, row []byte) error {
	if relation != relAsk {
		return fmt.Errorf("relation %d does not come to a voter", relation)
	}
	if _, err := rt.ReadRow(row, voteProgram().Relations[relAsk].Columns); err != nil {
		return err
	}
	v.come = append(v.come, string(row))
	return nil
}

func (v *voter) Timer(int)     {}
func (v *voter) Pending() bool { return len(v.next) > 0 }

func (v *voter) say(out *rt.Out, k string) {
	r := rt.RowTo(nil)
	r.Text(v.who.Self)
	out.Sent = append(out.Sent, rt.Sent{To: "leader/0", Relation: relYes, Row: append(r.Bytes(), k...)})
}

func (v *voter) Tick(out *rt.Out) {
	for _, k := range v.next {
		v.say(out, k)
	}
	v.next = nil
	for _, k := range v.come {
		v.next = append(v.next, k)
		if !v.kept[k] {
			v.kept[k] = true
			v.order = append(v.order, k)
			out.Changes = append(out.Changes, rt.Change{Relation: relKept, Row: []byte(k)})
		}
	}
	v.come = nil
}

func (v *voter) Resend(*rt.Out) {}

func (v *voter) Restore(c rt.Change) error {
	if c.Relation != relKept || c.Gone {
		return fmt.Errorf("a voter does not keep %+v", c)
	}
	if !v.kept[string(c.Row)] {
		v.kept[string(c.Row)] = true
		v.order = append(v.order, string(c.Row))
	}
	return nil
}

func (v *voter) Snapshot(out *rt.Out) {
	for _, k := range v.order {
		out.Changes = append(out.Changes, rt.Change{Relation: relKept, Row: []byte(k)})
	}
}

func command(client string, id uint64, v string) []byte {
	r := rt.RowTo(nil)
	r.Text(client)
	r.U64(id)
	r.Text(v)
	return r.Bytes()
}

// doneKey is the key of an output: the number of the command.
func doneKey(relation int, row []byte) (string, bool) {
	r := rt.Read(row)
	id := r.U64()
	r.Bytes()
	return fmt.Sprint(id), relation == relDone && r.End() == nil
}
