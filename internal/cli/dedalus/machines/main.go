// SPDX-License-Identifier: Apache-2.0

// Package machines is the command of a compiled program that ashlar dedalus measure
// builds and starts.
//
// In: a measure.Task as JSON, in the file that the argument names. Out: a measure.Point as a
// line of JSON for each number of commands under way, and a Result. It measures processor
// time by the clock of its thread, and what system calls on connections cost.
package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/measure"
	"github.com/ashlar-dev/ashlar/sim"
)

// Main is the command of a compiled program that is measured: it reads
// its task, measures, and returns an exit code.
func Main(p *rt.Program) int {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: measure TASK.json; ashlar dedalus measure starts it")
		return 2
	}
	err := work(p, os.Args[1])
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	failure := (*sim.Failure)(nil)
	switch {
	case errors.Is(err, measure.ErrWrong):
		return WrongCode
	case errors.As(err, &failure) && failure.Check == "liveness":
		return UnansweredCode
	}
	return 1
}

// Exit codes of Main, besides 0, 1 and 2: an answer that the load does not ask for; a
// command that was not answered.
const (
	WrongCode      = 12
	UnansweredCode = 13
)

// Result is what a measurement ends with.
type Result struct {
	Machines measure.Machines `json:"machines"`
	// Other is the processor time of other threads, for collections of garbage above all,
	// as a share of what nodes took; 0 where the system does not say.
	Other float64 `json:"other"`
}

// gcPercent is that of package cmd/dedalusd.
const gcPercent = 400

func work(p *rt.Program, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var t measure.Task
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	debug.SetGCPercent(gcPercent)
	runtime.LockOSThread()
	look := lookTime()
	if t.Machines.Write == 0 && t.Machines.Read == 0 && t.Machines.PerKB == 0 {
		if err := calls(&t.Machines, look); err != nil {
			return err
		}
	}
	out := json.NewEncoder(os.Stdout)
	all, own := processTime(), Time()
	for _, n := range t.UnderWay {
		pt, err := measure.Measure(p, &t, n, Time, look)
		if err != nil {
			return fmt.Errorf("%d commands under way: %w", n, err)
		}
		if err := out.Encode(pt); err != nil {
			return err
		}
	}
	all, own = processTime()-all, Time()-own
	return out.Encode(Result{Machines: t.Machines, Other: float64(max(all-own, 0)) / float64(max(own, 1))})
}

// lookTime is what a call of Time adds to its result: the least of some.
func lookTime() time.Duration {
	least := time.Second
	for range 1000 {
		begin := Time()
		least = min(least, Time()-begin)
	}
	return least
}

// How calls are measured.
const (
	callsOfProbe = 2000
	smallProbe   = 256
	largeProbe   = 16 << 10
)

// calls measures system calls on a connection of this machine, and fills them in.
func calls(m *measure.Machines, look time.Duration) error {
	ctx := context.Background()
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("measure system calls: %w", err)
	}
	defer l.Close()
	var dial net.Dialer
	from, err := dial.DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return fmt.Errorf("measure system calls: %w", err)
	}
	defer from.Close()
	to, err := l.Accept()
	if err != nil {
		return fmt.Errorf("measure system calls: %w", err)
	}
	defer to.Close()
	writeSmall, readSmall, err := probe(from, to, smallProbe, look)
	if err != nil {
		return err
	}
	writeLarge, readLarge, err := probe(from, to, largeProbe, look)
	if err != nil {
		return err
	}
	m.Write, m.Read = writeSmall, readSmall
	// One cost for both sides: half of what both take more.
	m.PerKB = max(0, (writeLarge+readLarge-writeSmall-readSmall)*1024/(2*(largeProbe-smallProbe)))
	return nil
}

// probe writes and reads messages of a size, and returns what a call of each took: the
// mean of the best of three runs, because others use the machine, too.
func probe(from, to net.Conn, size int, look time.Duration) (write, read time.Duration, err error) {
	out, in := make([]byte, size), make([]byte, size)
	for n := range 3 {
		var w, r time.Duration
		for range callsOfProbe {
			begin := Time()
			_, werr := from.Write(out)
			written := Time()
			k, rerr := to.Read(in)
			r += Time() - written - look
			w += written - begin - look
			for rest := size - k; rest > 0 && rerr == nil; rest -= k {
				k, rerr = to.Read(in[:rest])
			}
			if err := errors.Join(werr, rerr); err != nil {
				return 0, 0, fmt.Errorf("measure system calls: %w", err)
			}
		}
		if n == 0 || w+r < write+read {
			write, read = w, r
		}
	}
	return write / callsOfProbe, read / callsOfProbe, nil
}
