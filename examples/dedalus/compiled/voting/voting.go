// Package voting is examples/dedalus/voting.ded, by hand and in the plainest way.
//
// In and out: see package rt. Refused: nothing else.
package voting

import (
	"fmt"
	"sort"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
)

const (
	clientIn = iota
	clientOut
	voteReq
	voteRep
)

// Program is the program.
func Program() *rt.Program {
	node := rt.Column{Name: "node", Type: rt.Type{Kind: rt.KindNode}}
	id := rt.Column{Name: "id", Type: rt.Type{Kind: rt.KindU64}}
	v := rt.Column{Name: "v", Type: rt.Type{Kind: rt.KindBytes}}
	return &rt.Program{
		Name: "voting", Hash: 1,
		Relations: []rt.Relation{
			{Name: "clientIn", Kind: rt.Input, Columns: []rt.Column{node, id, v}},
			{Name: "clientOut", Kind: rt.Output, Columns: []rt.Column{id, v}},
			{Name: "voteReq", Columns: []rt.Column{node, id, v}},
			{Name: "voteRep", Columns: []rt.Column{node, node, id, v}},
		},
		Components: []rt.ComponentType{
			{Name: "leader", Of: "leader", Instances: 1, Partitions: 1, New: newLeader},
			{Name: "participant", Of: "participant", Instances: 3, Partitions: 1, New: newParticipant},
		},
	}
}

type command struct {
	client string
	id     uint64
	v      string
}

type leader struct {
	in    []command
	votes map[command]map[string]bool
	done  []command
}

func newLeader(rt.Identity, map[string][][]byte) (rt.Component, error) {
	return &leader{votes: map[command]map[string]bool{}}, nil
}

func (l *leader) Deliver(relation int, row []byte) error {
	r := rt.Read(row)
	var src string
	if relation == voteRep {
		src = string(r.Bytes())
	} else if relation != clientIn {
		return fmt.Errorf("relation %d does not come here", relation)
	}
	c := command{string(r.Bytes()), r.U64(), string(r.Bytes())}
	if err := r.End(); err != nil {
		return err
	}
	if relation == clientIn {
		l.in = append(l.in, c)
		return nil
	}
	if l.votes[c] == nil {
		l.votes[c] = map[string]bool{}
	}
	l.votes[c][src] = true
	return nil
}

func (l *leader) Timer(int) {}

func (l *leader) Tick(out *rt.Out) {
	for _, c := range l.in {
		for i := range 3 {
			row := out.Begin()
			row.Text(c.client)
			row.U64(c.id)
			row.Text(c.v)
			out.Send(fmt.Sprintf("participant/%d", i), voteReq, row)
		}
	}
	l.in, l.done = l.in[:0], l.done[:0]
	for c, from := range l.votes {
		if len(from) == 3 {
			l.done = append(l.done, c)
			delete(l.votes, c)
		}
	}
	sort.Slice(l.done, func(i, j int) bool { return l.done[i].id < l.done[j].id })
	l.Resend(out)
}

func (l *leader) Pending() bool { return false }

func (l *leader) Resend(out *rt.Out) {
	for _, c := range l.done {
		row := out.Begin()
		row.U64(c.id)
		row.Text(c.v)
		out.Send(c.client, clientOut, row)
	}
}

func (l *leader) Restore(rt.Change) error { return fmt.Errorf("nothing here is durable") }

func (l *leader) Snapshot(*rt.Out) {}

type participant struct {
	self string
	in   []command
}

func newParticipant(who rt.Identity, _ map[string][][]byte) (rt.Component, error) {
	return &participant{self: who.Self}, nil
}

func (p *participant) Deliver(relation int, row []byte) error {
	if relation != voteReq {
		return fmt.Errorf("relation %d does not come here", relation)
	}
	r := rt.Read(row)
	p.in = append(p.in, command{string(r.Bytes()), r.U64(), string(r.Bytes())})
	return r.End()
}

func (p *participant) Timer(int) {}

func (p *participant) Tick(out *rt.Out) {
	for _, c := range p.in {
		row := out.Begin()
		row.Text(p.self)
		row.Text(c.client)
		row.U64(c.id)
		row.Text(c.v)
		out.Send("leader/0", voteRep, row)
	}
	p.in = p.in[:0]
}

func (p *participant) Pending() bool { return false }

func (p *participant) Resend(*rt.Out) {}

func (p *participant) Restore(rt.Change) error { return fmt.Errorf("nothing here is durable") }

func (p *participant) Snapshot(*rt.Out) {}
