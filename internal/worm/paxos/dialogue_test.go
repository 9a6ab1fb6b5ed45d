// SPDX-License-Identifier: Apache-2.0

package paxos_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// dialogue is a script: operations of clients and what servers answer, one message
// at a time.
//
//	servers n [fast]              begin
//	capture|write|read|trim NAME [lo=] [hi=] [ballot=round] [value=]
//	                              start a machine
//	pass NAME server ...          hand what is waiting for these servers over, and
//	                              the answers back
//	answer NAME server=i status=s an answer of the whole
//	expire NAME
//	state server                  what a server holds
//	restart server                from its log
type dialogue struct {
	client     paxos.Client
	servers    []*paxos.Acceptor
	logs       []*wor.Log
	machines   map[string]wor.Machine
	waiting    map[string]map[int]waiting
	transcript strings.Builder
}

type waiting struct {
	q    wor.Request
	step uint32
}

func TestDialogues(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		d := &dialogue{}
		datadriven.RunTest(t, path, func(t *testing.T, in *datadriven.TestData) string {
			d.transcript.Reset()
			d.run(t, in)
			return d.transcript.String()
		})
	})
}

func (d *dialogue) run(t *testing.T, in *datadriven.TestData) {
	var server int
	switch in.Cmd {
	case "servers":
		n := 0
		fmt.Sscan(in.CmdArgs[0].Key, &n)
		*d = dialogue{
			client: paxos.Client{Fast: in.HasArg("fast")}, machines: map[string]wor.Machine{},
			waiting: map[string]map[int]waiting{},
		}
		for range n {
			d.servers, d.logs = append(d.servers, &paxos.Acceptor{}), append(d.logs, &wor.Log{})
		}
	case "capture", "write", "read", "trim":
		d.start(in)
	case "pass":
		for _, arg := range in.CmdArgs[1:] {
			fmt.Sscan(arg.Key, &server)
			d.pass(in.CmdArgs[0].Key, server)
		}
	case "answer":
		in.ScanArgs(t, "server", &server)
		var text string
		in.ScanArgs(t, "status", &text)
		status := map[string]wor.Status{
			"sealed": wor.StatusSealed, "stale": wor.StatusStale, "foreign": wor.StatusForeign, "ahead": wor.StatusAhead,
			"mute": wor.StatusMute, "busy": wor.StatusBusy, "limit": wor.StatusLimit,
		}[text]
		name := in.CmdArgs[0].Key
		d.deliver(name, server, d.waiting[name][server].step, &wor.Reply{Status: status})
		if moved := d.machines[name].Moved(); moved != wor.StatusOK {
			fmt.Fprintf(&d.transcript, "%s: moved: %v\n", name, moved)
		}
	case "expire":
		name := in.CmdArgs[0].Key
		var out wor.Outbox
		d.machines[name].Expire(&out)
		d.collect(name, &out)
	case "state":
		fmt.Sscan(in.CmdArgs[0].Key, &server)
		d.servers[server].States(wor.Addr{}, func(s wor.State) bool {
			if s.Trimmed {
				fmt.Fprintf(&d.transcript, "%v trimmed\n", s.Addr)
				return true
			}
			fmt.Fprintf(&d.transcript, "%v promised %v", s.Addr, s.Promised)
			if s.Written {
				fmt.Fprintf(&d.transcript, " accepted %v %q", s.Accepted, s.Value)
			}
			d.transcript.WriteByte('\n')
			return true
		})
	case "restart":
		fmt.Sscan(in.CmdArgs[0].Key, &server)
		d.servers[server] = &paxos.Acceptor{}
		for i := range d.logs[server].Len() {
			if err := d.servers[server].Redo(d.logs[server].Record(i)); err != nil {
				t.Fatal(err)
			}
		}
	default:
		in.Fatalf(t, "no such command")
	}
}

func (d *dialogue) start(in *datadriven.TestData) {
	r, b, value := wor.Range{Segment: 1, Lo: 0, Hi: 1}, wor.Ballot{}, ""
	for _, arg := range in.CmdArgs[1:] {
		switch arg.Key {
		case "lo":
			fmt.Sscan(arg.Vals[0], &r.Lo)
			r.Hi = r.Lo + 1
		case "hi":
			fmt.Sscan(arg.Vals[0], &r.Hi)
		case "ballot":
			fmt.Sscan(arg.Vals[0], &b.Round)
		case "value":
			value = arg.Vals[0]
		}
	}
	n := len(d.servers)
	var m wor.Machine
	switch in.Cmd {
	case "capture":
		m = d.client.Capture(n, r, b)
	case "write":
		m = d.client.Write(n, r, b, []byte(value))
	case "read":
		m = d.client.Read(n, r)
	default:
		m = d.client.Trim(n, r.Segment)
	}
	name := in.CmdArgs[0].Key
	d.machines[name], d.waiting[name] = m, map[int]waiting{}
	var out wor.Outbox
	m.Start(&out)
	d.collect(name, &out)
}

// collect records what a machine sends, and its result.
func (d *dialogue) collect(name string, out *wor.Outbox) {
	m := d.machines[name]
	for i, to := range out.To {
		q := *out.Requests[i]
		d.waiting[name][to] = waiting{q, m.Step()}
		fmt.Fprintf(&d.transcript, "%s -> %d: %v", name, to, q.Kind)
		if q.Kind != wor.KindTrim {
			fmt.Fprintf(&d.transcript, " %v", q.Range)
		}
		if q.Kind == wor.KindCapture || q.Kind == wor.KindWrite {
			fmt.Fprintf(&d.transcript, " at %v", q.Ballot)
		}
		if q.Kind == wor.KindWrite {
			fmt.Fprintf(&d.transcript, " %q", q.Value)
		}
		d.transcript.WriteByte('\n')
	}
	if m.Done() {
		fmt.Fprintf(&d.transcript, "%s is done:%s\n", name, runs(m.Result()))
	}
}

func (d *dialogue) pass(name string, server int) {
	w, ok := d.waiting[name][server]
	if !ok {
		fmt.Fprintf(&d.transcript, "nothing waits for %d\n", server)
		return
	}
	delete(d.waiting[name], server)
	var r wor.Reply
	records := d.logs[server].Len()
	d.servers[server].Handle(&w.q, &r, d.logs[server])
	fmt.Fprintf(&d.transcript, "%d:%s; %d records\n", server, runs(r.Runs), d.logs[server].Len()-records)
	d.deliver(name, server, w.step, &r)
}

func (d *dialogue) deliver(name string, from int, step uint32, r *wor.Reply) {
	m := d.machines[name]
	if m.Done() {
		return
	}
	var out wor.Outbox
	m.Deliver(from, step, r, &out)
	d.collect(name, &out)
}

func runs(all []wor.Run) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, " %dx %v", r.Count, r.Status)
		if !r.Promised.IsZero() {
			fmt.Fprintf(&b, " promised %v", r.Promised)
		}
		if r.Written {
			fmt.Fprintf(&b, " accepted %v %q", r.Accepted, r.Value)
		}
		b.WriteByte(',')
	}
	return strings.TrimSuffix(b.String(), ",")
}
