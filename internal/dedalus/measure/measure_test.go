// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/voting"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// counted is a program whose components take a time that is counted: one for each
// message that they take or send.
type counted struct {
	rt.Component
	clock *time.Duration
	each  time.Duration
}

func (c *counted) Deliver(relation int, row []byte) error {
	*c.clock += c.each
	return c.Component.Deliver(relation, row)
}

func (c *counted) Tick(out *rt.Out) {
	before := len(out.Sent)
	c.Component.Tick(out)
	*c.clock += time.Duration(len(out.Sent)-before) * c.each
}

// votingTask is voting with its load, and a clock that its components advance.
func votingTask(t *testing.T, each time.Duration) (*rt.Program, *Task, func() time.Duration) {
	t.Helper()
	text, err := os.ReadFile("../../../examples/dedalus/voting.ded")
	if err != nil {
		t.Fatal(err)
	}
	p := given.Program(t, string(text))
	var diags source.List
	l := cost.ParseLoad(source.NewFile("voting.load", []byte("clients 1\ncommands 1\nsend clientIn(client, #, bytes 16) to leader\nwait clientOut(#, _)\n")), p, &diags)
	if l == nil {
		t.Fatal(diags.Err())
	}
	task := &Task{Deployment: deploy.New(p), Commands: 2000, Machines: Paper()}
	task.Sends, task.Waits = loadgen.Commands(p, l)
	clock := new(time.Duration)
	compiled := *voting.Program()
	compiled.Components = append([]rt.ComponentType(nil), compiled.Components...)
	for i := range compiled.Components {
		create := compiled.Components[i].New
		compiled.Components[i].New = func(who rt.Identity, static map[string][][]byte) (rt.Component, error) {
			c, err := create(who, static)
			return &counted{c, clock, each}, err
		}
	}
	return &compiled, task, func() time.Duration { return *clock }
}

// TestMeasure: what a leader does that takes and sends four messages for a command, of a
// microsecond each, follows from that, whatever the measurement does.
func TestMeasure(t *testing.T) {
	measure := func(underWay int) *Point {
		p, task, clock := votingTask(t, time.Microsecond)
		pt, err := Measure(p, task, underWay, clock, 0)
		if err != nil {
			t.Fatal(err)
		}
		if pt.Commands < int64(task.Commands) || pt.Resent > 0 || pt.Busiest != "leader/0" || len(pt.Nodes) != 4 {
			t.Errorf("%d under way: %+v", underWay, pt)
		}
		for _, n := range pt.Nodes {
			want := 2.0 // a participant takes a request and sends a vote
			if n.Component == "leader" {
				want = 8
			}
			// Some commands are under way at both ends of what counts.
			if math.Abs(n.CPU-want) > 0.02*want || n.Calls > 0 || n.Disk > 0 {
				t.Errorf("%d under way: %+v; want %v us for a command", underWay, n, want)
			}
		}
		return pt
	}
	alone := measure(1)
	// Four hops of 110 us, one after the other; the leader sends to three participants, so that
	// the last vote is taken 3 + 2 us later, and takes and sends four and one messages more.
	if q := alone.Latency; q.P50 < 440 || q.P50 > 455 || math.Abs(alone.PerSecond*float64(q.P50)/1e6-1) > 0.01 {
		t.Errorf("one under way: %.0f a second, each in %d us", alone.PerSecond, q.P50)
	}
	// Where all messages that are of one time are taken together, 400 commands go round
	// together: the leader takes them and sends three messages for each, participants
	// take and send one, and the leader takes three and sends one, with four hops.
	many := measure(400)
	round := time.Duration(400*(4+2+4))*time.Microsecond + 4*110*time.Microsecond
	if want := 400 / round.Seconds(); math.Abs(many.PerSecond/want-1) > 0.02 {
		t.Errorf("400 under way: %.0f a second; want %.0f", many.PerSecond, want)
	}
	if n := many.Node("leader/0"); math.Abs(n.Busy-3200/4440.0) > 0.02 || n.Ticks > 0.02 {
		t.Errorf("400 under way: %+v; want a node that is busy for 3.2 of 4.4 ms, with hundreds of commands in a tick", n)
	}
	if q := many.Latency.P50; math.Abs(float64(q)*many.PerSecond/1e6/400-1) > 0.05 { // Little's law
		t.Errorf("400 under way, %.0f a second, and half of them in %d us", many.PerSecond, q)
	}
	if again := measure(400); !reflect.DeepEqual(again, many) {
		t.Errorf("two equal runs: %+v\n%+v", many, again)
	}
}

// TestMeasureCalls: system calls and bandwidth take time.
func TestMeasureCalls(t *testing.T) {
	p, task, clock := votingTask(t, 0)
	task.Machines.Write, task.Machines.Read = 10*time.Microsecond, 20*time.Microsecond
	pt, err := Measure(p, task, 1, clock, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Four writes and reads in a row, besides acknowledgements.
	if q := pt.Latency.P50; q < 440+3*30 || q > 440+6*30+30 {
		t.Errorf("a command took %d us", q)
	}
	if n := pt.Node("leader/0"); n.CPU != n.Calls || n.Calls < 4*10+3*20 || n.Reads < 3 || n.Writes < 4 {
		t.Errorf("%+v; want 4 writes of 10 us and 3 or 4 reads of 20 us for a command", n)
	}
	// With 16 KiB a second, the leader's messages leave one after the other.
	p, task, clock = votingTask(t, 0)
	task.Machines.Bandwidth, task.Commands = 8*16<<10, 100
	if pt, err = Measure(p, task, 4, clock, 0); err != nil {
		t.Fatal(err)
	}
	if pt.PerSecond > 16<<10/(4*16) || pt.PerSecond < 16<<10/(4*100) {
		t.Errorf("%.0f commands a second, of four messages with 16 bytes and more", pt.PerSecond)
	}
}

// TestMeasureWrong: an answer that the load does not ask for is an error.
func TestMeasureWrong(t *testing.T) {
	p, task, clock := votingTask(t, time.Microsecond)
	task.Waits[0].Args[1] = cost.Arg{Kind: cost.TextArg, Text: "something else"}
	if pt, err := Measure(p, task, 4, clock, 0); err == nil || !strings.Contains(err.Error(), "column") {
		t.Errorf("%+v, %v", pt, err)
	}
}
