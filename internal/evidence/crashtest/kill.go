// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// childVar holds the orders of a child process, which exists to be killed.
const childVar = "ASHLAR_CRASHTEST"

// orders are the parent's instructions for a child.
type orders struct {
	Dir  string
	Seed uint64
	Life int
}

// serveOrders runs the system forever if this process is a child of Kill.
func serveOrders[S, Op, Ret any](sys System[S, Op, Ret]) {
	text := os.Getenv(childVar)
	if text == "" {
		return
	}
	var o orders
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = sys.serve(o, os.Stdout)
	}
	fmt.Fprintf(os.Stderr, "%s has ended by itself: %v\n", sys.Name, err)
	os.Exit(1)
}

// Lines of a child: the kind of event, the client, and the operation or result
// as JSON. openLine says that the system is open.
const openLine = "open"

// serve runs clients forever. A line leaves the process before the operation
// starts, or after it has ended, so it is in the pipe if the process is killed
// later.
func (s System[S, Op, Ret]) serve(o orders, out io.Writer) error {
	do, err := s.Open(o.Dir)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, openLine); err != nil {
		return err
	}
	var mu sync.Mutex
	write := func(e Event[Op, Ret]) {
		var text []byte
		var err error
		if e.Kind == Call {
			text, err = json.Marshal(e.Op)
		} else {
			text, err = json.Marshal(e.Ret)
		}
		if err != nil {
			panic(err)
		}
		mu.Lock() // a pipe takes long lines in pieces
		defer mu.Unlock()
		if _, err := fmt.Fprintf(out, "%c %d %s\n", e.Kind, e.Client, text); err != nil {
			panic(err) // the parent is gone
		}
	}
	if s.Observe != nil {
		s.Observe(watched(do, 0, write))
	}
	var wait sync.WaitGroup
	for client := range s.Clients {
		r := env.Seeded(o.Seed).Split(fmt.Sprint(o.Life, ".", client))
		do := watched(do, client, write)
		wait.Go(func() {
			for {
				s.Client(r, client, do)
			}
		})
	}
	wait.Wait()
	return errors.New("no clients")
}

func parseLine[Op, Ret any](line []byte) (e Event[Op, Ret], err error) {
	parts := bytes.SplitN(line, []byte(" "), 3)
	if len(parts) != 3 || len(parts[0]) != 1 {
		return e, fmt.Errorf("the child says %q", line)
	}
	e.Kind = Kind(parts[0][0])
	if e.Client, err = strconv.Atoi(string(parts[1])); err != nil {
		return e, err
	}
	switch e.Kind {
	case Call:
		err = json.Unmarshal(parts[2], &e.Op)
	case Return:
		err = json.Unmarshal(parts[2], &e.Ret)
	default:
		err = fmt.Errorf("the child says %q", line)
	}
	return e, err
}

// Kill runs the system in processes that it kills at random moments, one after another,
// on the same directory of the file system, and checks the whole history. The processes
// run this test binary with only this test, so each of them also runs the part of the
// test before its call of Kill.
func Kill[S, Op, Ret any](t *testing.T, sys System[S, Op, Ret], kills int, seed uint64) Report {
	t.Helper()
	serveOrders(sys)
	dir := t.TempDir()
	if sys.Prepare != nil {
		if err := sys.Prepare(dir); err != nil {
			t.Fatal(err)
		}
	}
	r := env.Seeded(seed).Split("kill")
	report := Report{Runs: 1}
	var events []Event[Op, Ret]
	for life := range kills {
		if sys.Between != nil {
			if err := sys.Between(dir, life); err != nil {
				t.Fatal(err)
			}
		}
		o := orders{Dir: dir, Seed: seed, Life: life}
		got, open := killOne[Op, Ret](t, o, env.IntN(r, 10) == 0, 1+env.IntN(r, 150), time.Duration(env.IntN(r, 3000))*time.Microsecond)
		if t.Failed() {
			return report
		}
		if !open {
			report.InRecovery++
		}
		events = append(append(events, got...), Event[Op, Ret]{Kind: Crash})
		report.Lives++
	}
	report.Events = len(events)
	report.Interrupted = interrupted(events)
	if _, err := CheckHistory(sys.Spec, events); err != nil {
		t.Errorf("%s, seed %d: %v", sys.Name, seed, err)
	}
	t.Logf("%d lives, %d events, %d kills before it was open, %d operations interrupted",
		report.Lives, report.Events, report.InRecovery, report.Interrupted)
	if report.Events < 10*kills || report.Interrupted == 0 {
		t.Error("this test saw too little to mean anything")
	}
	return report
}

// killOne runs a child and kills it some time after it has printed the given number of
// lines or, if early, after it has started.
func killOne[Op, Ret any](t *testing.T, o orders, early bool, lines int, wait time.Duration) (events []Event[Op, Ret], open bool) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := procs.Self(t, childVar+"="+string(text), "-test.run=^"+strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")+"$")
	child := procs.Start(t, cmd)
	if early {
		defer time.AfterFunc(10*wait, child.Kill).Stop()
	}
	for line, ok := child.Next(); ok; line, ok = child.Next() {
		if line == openLine {
			open = true
		} else if e, err := parseLine[Op, Ret]([]byte(line)); err != nil {
			t.Error(err)
		} else {
			events = append(events, e)
		}
		if lines--; lines == 0 && !early {
			defer time.AfterFunc(wait, child.Kill).Stop()
		}
	}
	if status := child.State().String(); status != "signal: killed" {
		t.Errorf("life %d: the child ended by itself: %s", o.Life, status)
	}
	return events, open
}
