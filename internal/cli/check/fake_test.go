// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
)

// ticketLock is a small model by hand, so that reports are tested without a
// specification: clients queue for a lock and enter in turn. With broken set a
// client may overtake, which violates Mutex.
type ticketLock struct {
	clients int
	broken  bool
	info    func(*check.Info)
	assume  []string
	err     error // of the invariant, in the first state with a queue
}

const (
	lockAsk = iota
	lockEnter
	lockLeave
	lockReset
)

func (m ticketLock) Info() check.Info {
	info := check.Info{Name: "ticketlock", Deadlock: true, Invariants: []string{"TypeOK", "Mutex"}, Steps: []string{"Fair"},
		Actions: []check.Action{{Name: "ask", Place: "lock.tla:10:3"}, {Name: "enter", Place: "lock.tla:14:3"},
			{Name: "leave", Place: "lock.tla:18:3"}, {Name: "reset", Place: "lock.tla:22:3"}}}
	if m.info != nil {
		m.info(&info)
	}
	return info
}

func (m ticketLock) NewWorker() check.Worker { return &lockWorker{ticketLock: m} }

// A state is a byte per client (0 idle, 1 waiting, 2 in) and then the queue.
func (m ticketLock) Show(s check.State) []check.Binding {
	var labels, queue, inside [2][]string // in TLA+, as JSON
	add := func(to *[2][]string, tla, json string, args ...any) {
		to[0], to[1] = append(to[0], fmt.Sprintf(tla, args...)), append(to[1], fmt.Sprintf(json, args...))
	}
	for i, c := range s[:m.clients] {
		add(&labels, `c%d :> "%s"`, `[{"#model":"c%d"},"%s"]`, i+1, [...]string{"idle", "wait", "cs"}[c])
		if c == 2 {
			add(&inside, `c%d`, `{"#model":"c%d"}`, i+1)
		}
	}
	for _, q := range s[m.clients:] {
		add(&queue, `c%d`, `{"#model":"c%d"}`, q+1)
	}
	bind := func(name, tla, json string, of [2][]string, between string) check.Binding {
		return check.Binding{Name: name, Value: fmt.Sprintf(tla, strings.Join(of[0], between)), JSON: fmt.Sprintf(json, strings.Join(of[1], ","))}
	}
	return []check.Binding{
		bind("pc", `(%s)`, `{"#map":[%s]}`, labels, " @@ "),
		bind("queue", `<<%s>>`, `[%s]`, queue, ", "),
		bind("inside", `{%s}`, `{"#set":[%s]}`, inside, ", "),
		{Name: "note", Value: `[text |-> "</script><b>&", n |-> 1]`, JSON: `{"text":"</script><b>&","n":1}`},
	}
}

func (m ticketLock) Capabilities() check.ModelCapabilities { return check.ModelCapabilities{} }

type lockWorker struct {
	ticketLock
	now []byte
}

func (w *lockWorker) Capabilities() check.Capabilities { return check.Capabilities{} }

func (w *lockWorker) Assumptions() ([]string, error) { return w.assume, nil }
func (w *lockWorker) InModel() (bool, error)         { return true, nil }
func (w *lockWorker) BrokenStep() (int, error)       { return -1, nil }

func (w *lockWorker) BrokenInvariant() (int, error) {
	in := 0
	for _, c := range w.now[:w.clients] {
		if c == 2 {
			in++
		}
	}
	if w.err != nil && len(w.now) > w.clients {
		return -1, w.err
	}
	if in > 1 {
		return 1, nil
	}
	return -1, nil
}

func (w *lockWorker) Init(visit check.Visit) error {
	w.now = make([]byte, w.clients)
	return visit(-1, w.now)
}

func (w *lockWorker) Next(s check.State, visit check.Visit) error {
	old := append([]byte(nil), s...)
	emit := func(action int, client int, pc byte, queue []byte) error {
		w.now = append(append([]byte(nil), old[:w.clients]...), queue...)
		w.now[client] = pc
		return visit(action, w.now)
	}
	queue := old[w.clients:]
	for i := range w.clients {
		var err error
		switch {
		case old[i] == 0:
			err = emit(lockAsk, i, 1, append(append([]byte(nil), queue...), byte(i)))
		case old[i] == 1 && (queue[0] == byte(i) || w.broken):
			err = emit(lockEnter, i, 2, queue)
		case old[i] == 2:
			var rest []byte
			for _, q := range queue {
				if q != byte(i) {
					rest = append(rest, q)
				}
			}
			err = emit(lockLeave, i, 0, rest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lockSubject pretends that the model was loaded from a file.
func lockSubject(m ticketLock) loader {
	return func(spec string, o checkOptions, print func(string), _ *check.Monitor) (*subject, error) {
		return &subject{model: m, Source: report.Source{Spec: spec, Config: "lock.cfg", Define: func(name string) (string, string) {
			if name == "Mutex" {
				return "Mutex ==\n  \\A a, b \\in Client : a # b => ~(pc[a] = \"cs\" /\\ pc[b] = \"cs\")", "lock.tla:30:1"
			}
			return "", ""
		}}}, nil
	}
}
