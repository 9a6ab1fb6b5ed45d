// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/bench/process"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestMain is this program's own child when it is asked to be one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case roleServer:
			os.Exit(process.Main(serverMain))
		case roleClient:
			os.Exit(process.Main(clientMain))
		case roleAshlard:
			os.Exit(process.Main(ashlardMain))
		}
	}
	goleak.VerifyTestMain(m)
}

func self(role string) *exec.Cmd { return exec.Command(os.Args[0], role) }

// TestSmoke measures a little of everything that is there.
func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-smoke", "-json", "-dir", dir, "-memory", dir, "-clients", "1"}
	engines := []string{ashlar}
	for _, peer := range []struct{ engine, program string }{{etcd, "etcd"}, {redis, "redis-server"}} {
		if _, err := exec.LookPath(peer.program); err != nil || peer.engine == etcd && etcdAbsent != "" {
			t.Logf("without %s: %v %s", peer.engine, err, etcdAbsent)
			continue
		}
		engines = append(engines, peer.engine)
	}
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := command(ctx, append(args, "-engines", strings.Join(engines, ",")), &out, &errs, self); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	for _, e := range engines {
		for _, op := range operations() {
			for _, mode := range []string{inMemory, durable} {
				if !op.has(e) || mode == durable && !op.Writes {
					continue
				}
				f := r.find(cell{Engine: e, Op: op.Name, Mode: mode, Clients: 1, Procs: 1})
				if f == nil || f.Ops < 1 || f.P50 <= 0 || f.P999 < f.P50 {
					t.Errorf("%s, %s, %s: %+v", e, op.Name, mode, f)
				}
			}
		}
	}
	for _, v := range variants {
		if f := r.find(cell{Engine: ashlar, Op: opTx, Variant: v, Mode: inMemory, Clients: 1, Procs: 1}); f == nil || f.Ops < 1 {
			t.Errorf("%s was not measured", v)
		}
	}
	if len(r.Counts) != 5 {
		t.Fatalf("%d operations were counted, want 5", len(r.Counts))
	}
	for _, c := range r.Counts {
		// A machine that is busy may send once more; on the whole it does not.
		if math.Abs(c.Trips-c.Must) > 0.5 {
			t.Errorf("%s: %.2f round trips, want %.0f", c.Op, c.Trips, c.Must)
		}
	}
	if _, err := exec.LookPath("redis-benchmark"); err != nil {
		t.Logf("without redis-benchmark: %v", err)
	} else if len(r.Front) < 6 {
		t.Errorf("redis-benchmark has %d figures, want 6 at least", len(r.Front))
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestFormats renders a report in all forms.
func TestFormats(t *testing.T) {
	ours := cell{Engine: ashlar, Op: "write", Mode: inMemory, Clients: 64, Procs: 1}
	peer := ours
	peer.Engine = etcd
	r := &report{Config: config{Clients: []int{64}}, Figures: []figure{{cell: ours, Median: 1000, CPU: 1}, {cell: peer, Median: 125, CPU: 10}}}
	r.Targets = r.judge()
	if len(r.Targets) != 2 || r.Targets[0].Met || r.Targets[0].Found != 8 || !r.Targets[1].Met {
		t.Fatalf("verdicts: %+v", r.Targets)
	}
	text, err := r.format(output{})
	if err != nil || !strings.Contains(text, "missed") || !strings.Contains(text, "0.12") && !strings.Contains(text, "0.13") {
		t.Errorf("%v\n%s", err, text)
	}
	text, err = r.format(output{Markdown: true})
	if err != nil || !strings.Contains(text, "| ashlar | 64 | 1 | 1000 (0) | 1.00 |") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestMedian(t *testing.T) {
	for _, x := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(slices.Clone(x.of)); got != x.want {
			t.Errorf("median of %v is %v, want %v", x.of, got, x.want)
		}
	}
}

// TestFlags refuses what makes no sense.
func TestFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-engines", "other"}, {"-ops", "other"}, {"-modes", "other"}, {"-clients", "x"}, {"-clients", "0"}, {"-rounds", "0"},
		{"-duration", "2h"}, {"-value", "1"}, {"-procs", "99"}, {"more"}, {"-other"},
	} {
		if _, _, err := parse(args, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, _, err := parse([]string{"-help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}

// TestValues tells values apart.
func TestValues(t *testing.T) {
	v := fill(make([]byte, valueMin), 3, 4)
	if err := checkValue(v, valueMin, 3, 4); err != nil {
		t.Error(err)
	}
	for _, wrong := range [][2]int{{3, 5}, {4, 4}} {
		if checkValue(v, valueMin, wrong[0], wrong[1]) == nil {
			t.Errorf("%v was taken for 3, 4", wrong)
		}
	}
	if checkValue(v[:8], valueMin, 3, 4) == nil {
		t.Error("half of a value was taken for one")
	}
}

// TestChildThatFails tells what it said.
func TestChildThatFails(t *testing.T) {
	c, err := process.Start("server", self(roleServer), true)
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	if err := c.Tell(serverJob{Listen: "nowhere"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Tell(struct{}{}); err != nil {
		t.Fatal(err)
	}
	var id wor.ServerID
	if err := c.Hear(&id, time.Minute); err != nil {
		t.Fatal(err)
	}
	var said string
	if err := c.Hear(&said, time.Minute); err == nil || !strings.Contains(err.Error(), "server needs a genesis") {
		t.Errorf("it said %q, %v", said, err)
	}
}

// TestTransactionsOverSegments does so many transactions that the participants have
// to go on to their next segments: the first ones last for 1,024.
func TestTransactionsOverSegments(t *testing.T) {
	c, err := startOurs(self, "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := awaken(ctx, c.where.Genesis); err != nil {
		t.Fatal(err)
	}
	for i, v := range []string{"A8", "E3", "F2"} {
		s, err := openTx(clientJob{Where: c.where, Op: opTx, Variant: v, Phase: i, Clients: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = s.prepare(ctx)
		for seq := 0; err == nil && seq < 1100; seq++ {
			err = s.do(ctx, 0, seq)
		}
		if err == nil {
			err = s.verify(ctx, nil)
		}
		s.close()
		if err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
}
