// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

// lockRun plays the lock service of specs/lockservice at random and writes the
// traces that its processes would. Messages arrive some time after they were sent.
type lockRun struct {
	r       *rand.Rand
	step    int64 // nanoseconds between sections
	now     int64
	logs    []*lockLog // the server's first
	waiting []lockMessage
	q       []int // the server's
	msg     lockMessage
	left    int // sections to write
}

type lockMessage struct {
	from  int
	kind  string
	clock tracelog.Clock
}

type lockLog struct {
	to     *bufio.Writer
	w      *tracelog.Writer
	clock  tracelog.Clock
	n      uint64
	at     string
	grants []tracelog.Clock // messages to a client
}

func (l *lockLog) Append(b []byte) error {
	_, err := l.to.Write(b)
	return err
}

// write plays until the given number of sections is written.
func (k *lockRun) write(dir string, clients, sections int) error {
	k.left = sections
	for i := range clients + 1 {
		h := tracelog.Header{System: "lockservice", Archetype: "AClient", Self: strconv.Itoa(i), Wall: "2026-01-01T00:00:00Z"}
		first, vars := "acquireLock", []tracelog.Var{{Name: "reply", Value: "defaultInitValue"}}
		if i == 0 {
			h.Archetype, first = "AServer", "serverLoop"
			vars = []tracelog.Var{{Name: "msg", Value: "defaultInitValue"}, {Name: "q", Value: "<<>>"}}
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)))
		if err != nil {
			return err
		}
		defer f.Close()
		l := &lockLog{to: bufio.NewWriter(f)}
		if l.w, err = tracelog.NewWriter(l, h); err != nil {
			return err
		}
		k.logs = append(k.logs, l)
		if err := k.emit(i, first, vars, nil); err != nil {
			return err
		}
	}
	for k.left > 0 {
		i := k.r.IntN(len(k.logs))
		play := k.client
		if k.r.IntN(2) == 0 {
			i, play = 0, k.server
		}
		if err := play(i); err != nil {
			return err
		}
	}
	for _, l := range k.logs {
		if err := l.to.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// emit writes a section.
func (k *lockRun) emit(i int, next string, vars []tracelog.Var, e *tracelog.Element) error {
	l := k.logs[i]
	l.n++
	k.left--
	k.now += k.step
	name := "AClient(" + strconv.Itoa(i) + ")"
	if i == 0 {
		name = "AServer(0)"
	}
	l.clock = l.clock.With(name, l.n)
	event := tracelog.Event{N: l.n, Label: l.at, Next: next, Vars: vars, Clock: l.clock, Start: k.now, End: k.now + k.step/2}
	if e != nil {
		event.Elements = []tracelog.Element{*e}
	}
	l.at = next
	return l.w.Record(&event)
}

func network(op string, to int, v string) *tracelog.Element {
	return &tracelog.Element{Op: op, Name: "network", Indices: []string{strconv.Itoa(to)}, Value: v}
}

func (m lockMessage) String() string {
	return fmt.Sprintf("[from |-> %d, type |-> %q]", m.from, m.kind)
}

func (k *lockRun) client(i int) error {
	l := k.logs[i]
	send := func(kind, next string) error {
		m := lockMessage{from: i, kind: kind}
		if err := k.emit(i, next, nil, network(tracelog.Write, 0, m.String())); err != nil {
			return err
		}
		m.clock = l.clock
		at := len(k.waiting) // it may overtake those of other clients
		for at > 0 && k.waiting[at-1].from != i && k.r.IntN(3) == 0 {
			at--
		}
		k.waiting = append(k.waiting[:at], append([]lockMessage{m}, k.waiting[at:]...)...)
		return nil
	}
	switch {
	case i == 0:
		return nil
	case l.at == "acquireLock":
		return send("lock", "awaitGrant")
	case l.at == "awaitGrant" && len(l.grants) > 0:
		l.clock = l.clock.Merge(l.grants[0])
		l.grants = l.grants[1:]
		return k.emit(i, "criticalSection", []tracelog.Var{{Name: "reply", Value: `"grant"`}}, network(tracelog.Read, i, `"grant"`))
	case l.at == "criticalSection":
		return k.emit(i, "releaseLock", nil, nil)
	case l.at == "releaseLock":
		return send("unlock", "acquireLock")
	}
	return nil
}

func (k *lockRun) server(int) error {
	l := k.logs[0]
	switch {
	case l.at == "serverLoop":
		return k.emit(0, "serverReceive", nil, nil)
	case l.at == "serverReceive" && len(k.waiting) > 0:
		k.msg, k.waiting = k.waiting[0], k.waiting[1:]
		l.clock = l.clock.Merge(k.msg.clock)
		return k.emit(0, "serverRespond", []tracelog.Var{{Name: "msg", Value: k.msg.String()}}, network(tracelog.Read, 0, k.msg.String()))
	case l.at == "serverRespond":
		grant := 0
		if k.msg.kind == "lock" {
			if k.q = append(k.q, k.msg.from); len(k.q) == 1 {
				grant = k.q[0]
			}
		} else if k.q = k.q[1:]; len(k.q) > 0 {
			grant = k.q[0]
		}
		queue := "<<>>"
		if len(k.q) > 0 {
			queue = "<<" + fmt.Sprint(k.q[0])
			for _, c := range k.q[1:] {
				queue += ", " + fmt.Sprint(c)
			}
			queue += ">>"
		}
		var e *tracelog.Element
		if grant > 0 {
			e = network(tracelog.Write, grant, `"grant"`)
		}
		err := k.emit(0, "serverLoop", []tracelog.Var{{Name: "q", Value: queue}}, e)
		if grant > 0 {
			k.logs[grant].grants = append(k.logs[grant].grants, l.clock)
		}
		return err
	}
	return nil
}

// The process that checks a long log is this test again, with the directory.
const longDir = "ASHLAR_TEST_LONG_TRACE"

// TestLongLogsNeedLittleMemory checks a log of many sections in a process of its
// own, and asks the kernel how much memory that took. ASHLAR_LONG_TRACE sets the
// number of sections.
func TestLongLogsNeedLittleMemory(t *testing.T) {
	if dir := os.Getenv(longDir); dir != "" {
		checkLong(t, dir)
		return
	}
	sections, most := 200_000, int64(160<<20) // without forgetting it takes more than 200 MiB
	if n, err := strconv.Atoi(os.Getenv("ASHLAR_LONG_TRACE")); err == nil {
		sections, most = n, 256<<20
	}
	dir := t.TempDir()
	k := &lockRun{r: rand.New(rand.NewPCG(1, 2)), step: 1000}
	if err := k.write(dir, 3, sections); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestLongLogsNeedLittleMemory$", "-test.v")
	cmd.Env = append(os.Environ(), longDir+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "linux" {
		used <<= 10 // on Linux it is in KiB
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%d sections: %d MiB, %.1f CPU seconds, %.0f sections each", sections, used>>20, cpu.Seconds(), float64(sections)/cpu.Seconds())
	if used > most {
		t.Errorf("the check of %d sections took %d MiB", sections, used>>20)
	}
}

func checkLong(t *testing.T, dir string) {
	debug.SetGCPercent(400)
	logs, err := OpenDir(os.DirFS(dir), "lockservice")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Check(context.Background(), fileAlgorithm(t, "../../specs/lockservice/lockservice"), logs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Accepted || r.Trimmed > 0 {
		t.Fatalf("%v:\n%s", r.Verdict, text(r))
	}
}
