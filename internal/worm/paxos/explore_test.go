// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// All interleavings of some clients on one register and three acceptors. Each
// message arrives once, any time later or never; nothing is sent again. A state is
// the acceptors, the machines, the messages under way, and what was ever accepted.
// The number of distinct states, servers exchanged being the same, is exact: it changes when the protocol does.

// script is what a client does: from each step its machine, then the next step.
type script struct {
	kind   wor.Kind   // of the first machine; a write is at ballot zero
	ballot wor.Ballot // of the capture; zero if there is none
	value  string
}

type exploring struct {
	client    Client
	servers   int
	acceptors []*Acceptor
	clients   []clientState
	messages  []exploredMessage
	accepts   []string // server, ballot, value, sorted
}

type clientState struct {
	script
	m       *machine
	phase   int    // 0 not begun, then one for each machine
	writing string // the value of the write under way
	free    bool   // nothing was chosen when it began
	told    string
}

type exploredMessage struct {
	client, phase, to int
	step              uint32
	q                 wor.Request
	reply             *wor.Reply
	text              string
}

func (x *exploring) clone() *exploring {
	y := *x
	y.acceptors = slices.Clone(x.acceptors)
	y.clients = slices.Clone(x.clients)
	y.messages = slices.Clone(x.messages)
	y.accepts = slices.Clone(x.accepts)
	return &y
}

// own gives client i a machine of its own to change.
func (x *exploring) own(i int) *machine {
	m := *x.clients[i].m
	m.spans, m.servers, m.spare = slices.Clone(m.spans), slices.Clone(m.servers), nil
	for k := range m.spans {
		m.spans[k].zero = slices.Clone(m.spans[k].zero)
	}
	x.clients[i].m = &m
	return &m
}

// key is the state up to the order of the servers, which are all alike: what
// belongs to each, sorted, and what belongs to none.
func (x *exploring) key() string {
	var rest []byte
	parts := make([][]byte, x.servers)
	for i, a := range x.acceptors {
		a.Save(func(record []byte) bool {
			parts[i] = append(append(parts[i], record...), ',')
			return true
		})
	}
	for i := range x.clients {
		c := &x.clients[i]
		rest = fmt.Appendf(rest, "|%d %s %v %s", c.phase, c.writing, c.free, c.told)
		if c.m == nil || c.m.done {
			continue
		}
		s := &c.m.spans[0]
		rest = fmt.Appendf(rest, "%v%v%v%v %v %v %s", s.done, s.conflict, s.fixing, s.written, s.accepted, s.promised, s.value)
		masks := []mask{s.yes, s.no, s.seen, s.none}
		for _, v := range s.zero {
			rest = append(append(rest, v.value...), ' ')
			masks = append(masks, v.by)
		}
		for k := range parts {
			v := &c.m.servers[k]
			parts[k] = append(parts[k], '/', byte(v.since), byte(v.next))
			if v.busy {
				parts[k] = append(parts[k], 'b')
			}
			for _, m := range masks {
				parts[k] = append(parts[k], byte(m>>k&1))
			}
		}
	}
	slices.SortFunc(x.messages, func(a, b exploredMessage) int { return strings.Compare(a.text, b.text) })
	for _, m := range x.messages {
		parts[m.to] = append(append(parts[m.to], ';'), m.text...)
	}
	for _, a := range x.accepts {
		parts[a[0]-'0'] = append(parts[a[0]-'0'], a[1:]...)
	}
	slices.SortFunc(parts, bytes.Compare)
	return string(append(bytes.Join(parts, []byte("#")), rest...))
}

// describe gives a message the text that it has in keys.
func (m *exploredMessage) describe() {
	m.text = fmt.Sprint(m.client, m.phase, m.step, uint8(m.q.Kind), m.q.Ballot, string(m.q.Value))
	if m.reply != nil {
		m.text += fmt.Sprint(m.reply.Runs)
	}
}

// machine begins the next machine of a client.
func (x *exploring) machine(i int, m wor.Machine) {
	c := &x.clients[i]
	c.m, c.phase = m.(*machine), c.phase+1
	var out wor.Outbox
	c.m.Start(&out)
	x.send(i, &out)
}

func (x *exploring) send(i int, out *wor.Outbox) {
	for k, to := range out.To {
		m := exploredMessage{
			client: i, phase: x.clients[i].phase, to: to, step: x.clients[i].m.Step(), q: *out.Requests[k],
		}
		m.describe()
		x.messages = append(x.messages, m)
	}
}

func (x *exploring) begin(i int) {
	c, r := &x.clients[i], one(5)
	c.free = len(x.chosen()) == 0
	switch c.kind {
	case wor.KindRead:
		x.machine(i, x.client.Read(x.servers, r))
	case wor.KindWrite:
		c.writing = c.value
		x.machine(i, x.client.Write(x.servers, r, wor.Ballot{}, []byte(c.value)))
	default:
		x.machine(i, x.client.Capture(x.servers, r, c.ballot))
	}
}

// chosen is every value that is chosen.
func (x *exploring) chosen() []string {
	counts := map[string]int{}
	var all []string
	for _, a := range x.accepts {
		what := a[strings.IndexByte(a, ' ')+1:]
		counts[what]++
		ballot, value, _ := strings.Cut(what, " ")
		need := wor.Majority(x.servers)
		if x.client.Fast && ballot == "0" {
			need = wor.FastQuorum(x.servers)
		}
		if counts[what] == need && !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	return all
}

// next lets message k arrive.
func (x *exploring) next(k int) error {
	m := x.messages[k]
	x.messages = slices.Delete(x.messages, k, k+1)
	if m.reply == nil {
		a := redo(nil, save(x.acceptors[m.to]))
		x.acceptors[m.to] = a
		var r wor.Reply
		var log wor.Log
		q := m.q
		a.Handle(&q, &r, &log)
		if s := states(a, wor.Addr{}); len(s) > 0 && s[0].Written {
			what := fmt.Sprintf("%d %v %s", m.to, s[0].Accepted, s[0].Value)
			if at, found := slices.BinarySearch(x.accepts, what); !found {
				x.accepts = slices.Insert(x.accepts, at, what)
			}
		}
		if x.clients[m.client].phase == m.phase && !x.clients[m.client].m.done {
			m.reply = &r
			m.describe()
			x.messages = append(x.messages, m)
		}
		if all := x.chosen(); len(all) > 1 {
			return fmt.Errorf("chosen: %v", all)
		}
		return nil
	}
	if c := &x.clients[m.client]; c.phase != m.phase || c.m.done {
		return nil
	}
	var out wor.Outbox
	machine := x.own(m.client)
	reply := *m.reply
	machine.Deliver(m.to, m.step, &reply, &out)
	x.send(m.client, &out)
	if machine.done {
		x.messages = slices.DeleteFunc(x.messages, func(o exploredMessage) bool {
			return o.client == m.client && o.phase == m.phase && o.reply != nil
		})
		return x.finished(m.client, machine.Result()[0])
	}
	return nil
}

// finished continues with what follows a machine.
func (x *exploring) finished(i int, run wor.Run) error {
	c, r := &x.clients[i], one(5)
	ok := run.Status == wor.StatusOK
	switch kind := c.m.kind; {
	case kind == wor.KindRead && ok && !run.Written:
		if c.told = "unwritten"; !c.free {
			return fmt.Errorf("client %d reads unwritten though %v was chosen before", i, x.chosen())
		}
	case kind == wor.KindRead && ok:
		return x.tell(i, string(run.Value))
	case kind == wor.KindWrite && ok:
		return x.tell(i, c.writing)
	case kind == wor.KindCapture && ok:
		if c.writing = c.value; run.Written {
			c.writing = string(run.Value)
		}
		x.machine(i, x.client.Write(x.servers, r, c.ballot, []byte(c.writing)))
	case kind == wor.KindWrite && c.kind == wor.KindWrite && c.phase == 1 && !c.ballot.IsZero():
		x.machine(i, x.client.Capture(x.servers, r, c.ballot))
	default:
		c.told = run.Status.String()
	}
	return nil
}

func (x *exploring) tell(i int, value string) error {
	c := &x.clients[i]
	if c.told = "=" + value; !slices.Contains(x.chosen(), value) {
		return fmt.Errorf("client %d was told %q, chosen: %v", i, value, x.chosen())
	}
	return nil
}

// explore counts the states that can be reached, and how often clients were told
// each thing in the end.
func explore(t *testing.T, client Client, servers int, scripts []script) (int, []string) {
	x := &exploring{client: client, servers: servers}
	for range servers {
		x.acceptors = append(x.acceptors, &Acceptor{})
	}
	for _, s := range scripts {
		x.clients = append(x.clients, clientState{script: s})
	}
	seen, ends := map[string]bool{x.key(): true}, map[string]bool{}
	queue := []*exploring{x}
	for len(queue) > 0 {
		x, queue = queue[0], queue[1:]
		var after []*exploring
		for i := range x.clients {
			if x.clients[i].phase == 0 {
				y := x.clone()
				y.begin(i)
				after = append(after, y)
			}
		}
		for k := range x.messages {
			y := x.clone()
			if err := y.next(k); err != nil {
				t.Fatalf("%v\n%s\nthen %+v", err, x.key(), x.messages[k])
			}
			after = append(after, y)
		}
		for _, y := range after {
			if key := y.key(); !seen[key] {
				seen[key] = true
				queue = append(queue, y)
				for i := range y.clients {
					if told := y.clients[i].told; told != "" {
						ends[fmt.Sprint(i, told)] = true
					}
				}
			}
		}
	}
	return len(seen), slices.Sorted(maps.Keys(ends))
}

func TestExploreAll(t *testing.T) {
	one, two := wor.Ballot{Round: 1, Nonce: 1}, wor.Ballot{Round: 2, Nonce: 2}
	for _, e := range []struct {
		name    string
		client  Client
		scripts []script
		states  int
		ends    string
	}{
		{"one proposes, one reads", Client{}, []script{
			{kind: wor.KindCapture, ballot: one, value: "v"},
			{kind: wor.KindRead},
		}, 5348, "0=v 1=v 1unwritten"},
		{"two propose", Client{}, []script{
			{kind: wor.KindCapture, ballot: one, value: "v"},
			{kind: wor.KindCapture, ballot: two, value: "w"},
		}, 22535, "0=v 0outbid 1=v 1=w"},
		{"one unsafe, one proposes", Client{}, []script{
			{kind: wor.KindWrite, ballot: one, value: "v"},
			{kind: wor.KindCapture, ballot: two, value: "w"},
		}, 13351, "0=v 0outbid 1=v 1=w"},
		{"fast, one reads", Client{Fast: true}, []script{
			{kind: wor.KindWrite, ballot: one, value: "v"},
			{kind: wor.KindRead},
		}, 617, "0=v 1=v 1unwritten"},
		{"fast, one captures", Client{Fast: true}, []script{
			{kind: wor.KindWrite, value: "v"},
			{kind: wor.KindCapture, ballot: two, value: "w"},
		}, 3196, "0=v 0outbid 1=v 1=w"},
		{"fast, two", Client{Fast: true}, []script{
			{kind: wor.KindWrite, value: "v"},
			{kind: wor.KindWrite, ballot: two, value: "w"},
		}, 23324, "0=v 0conflict 0outbid 1=v 1=w"},
	} {
		n, ends := explore(t, e.client, 3, e.scripts)
		if got := strings.Join(ends, " "); n != e.states || got != e.ends {
			t.Errorf("%s: %d states, ends %q; want %d, %q", e.name, n, got, e.states, e.ends)
		}
	}
}
