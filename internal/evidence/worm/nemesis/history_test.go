// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// never is the return of a call that was not answered: it may still take effect.
const never = math.MaxInt64

// act is an operation on one of many objects, and what became of it.
type act struct {
	what      string // read, write, trim; get, put, incr; append, tail; command, look
	client    int
	on        string // the object
	value     string // written or read
	number    int64  // a position, or a sum
	err       error
	call, ret int64
}

func (a act) String() string {
	end := "never"
	if a.ret != never {
		end = time.Duration(a.ret).String()
	}
	return fmt.Sprintf("client %d %s %s %.60q %d: %v, %v to %s", a.client, a.what, a.on, a.value, a.number, a.err, time.Duration(a.call), end)
}

// record is what clients saw. Times are of one clock, which does not go back.
type record struct {
	start time.Time
	mu    sync.Mutex
	acts  []act
	seen  map[string]int // acts by what and how they ended
}

func newHistory(start time.Time) *record { return &record{start: start, seen: map[string]int{}} }

func (h *record) now() int64 { return int64(time.Since(h.start)) }

func (h *record) add(as ...act) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range as {
		end := "ok"
		if a.err != nil {
			end = cause(a.err)
		}
		h.seen[a.what+" "+end]++
		h.acts = append(h.acts, a)
	}
}

func (h *record) count(event string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[event]
}

// causes are the outcomes that have a name.
func causes() map[string]error {
	return map[string]error{
		"unknown": wor.ErrUnknown, "written": wor.ErrWritten, "trimmed": wor.ErrTrimmed, "unwritten": wor.ErrUnwritten,
		"nothing": errNothing,
	}
}

func cause(err error) string {
	for name, e := range causes() {
		if errors.Is(err, e) {
			return name
		}
	}
	return err.Error()
}

// errNothing represents all errors that mean that nothing was done or seen.
var errNothing = errors.New("nothing was done")

func isNothing(err error) bool {
	if errors.Is(err, wor.ErrUnknown) {
		return false
	}
	return slices.ContainsFunc([]error{
		wor.ErrDeadline, wor.ErrBusy, wor.ErrSealed, wor.ErrClosed, wor.ErrToken, wor.ErrUnallocated, wor.ErrOutbid,
	}, func(e error) bool { return errors.Is(err, e) })
}

// register notes an answer about a register. What is not known stays so; what an
// error shows of the register is a read.
func (h *record) register(a act, err error) {
	a.ret, a.err = h.now(), err
	written := (*wor.WrittenError)(nil)
	saw := act{what: "read", client: a.client, on: a.on, call: a.call, ret: a.ret}
	switch {
	case isNothing(err), errors.Is(err, wor.ErrUnknown) && a.what == "read":
		h.mu.Lock()
		h.seen[a.what+" nothing"]++
		h.mu.Unlock()
	case errors.Is(err, wor.ErrUnknown), a.what == "trim" && err != nil:
		a.ret, a.err = never, wor.ErrUnknown
		h.add(a)
	case a.what == "write" && errors.Is(err, wor.ErrTrimmed):
		// It may have taken effect before the trim, which is what it has seen.
		saw.err, a.ret, a.err = err, never, wor.ErrUnknown
		h.add(a, saw)
	case errors.As(err, &written):
		saw.value = string(written.Value)
		h.add(a, saw)
	default:
		h.add(a)
	}
}

// registerModel is wor.Register for porcupine.
func registerModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return wor.Register{} },
		Step: func(state, input, _ any) (bool, any) {
			r, a := state.(wor.Register), input.(act)
			switch {
			case a.what == "trim":
				return true, r.Trim()
			case a.what == "read":
				return r.Read(a.value, a.err), r
			case errors.Is(a.err, wor.ErrUnknown): // at any time, or at the end, which is never
				if next, ok := r.Write(a.value, nil); ok {
					return true, next
				}
				return true, r
			}
			next, ok := r.Write(a.value, a.err)
			return ok, next
		},
	}
}

// keyModel is a key with a number, absent at first.
func keyModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, _ any) (bool, any) {
			s, a := state.(string), input.(act)
			switch a.what {
			case "get":
				return s == a.value, s
			case "put":
				return true, a.value
			}
			var n int64
			fmt.Sscan(s, &n) // an absent one is 0
			n++
			return a.ret == never || n == a.number, fmt.Sprint(n)
		},
	}
}

// judgeT is whom a judge complains to: a *testing.T.
type judgeT interface {
	Helper()
	Errorf(format string, args ...any)
}

// judge reports whether there is an order in which the acts on each object make sense.
func judge(t judgeT, what string, m porcupine.Model, acts []act) {
	t.Helper()
	objects := map[string][]porcupine.Operation{}
	for _, a := range acts {
		objects[a.on] = append(objects[a.on], porcupine.Operation{ClientId: a.client, Input: a, Call: a.call, Return: a.ret})
	}
	for _, ops := range objects {
		result := porcupine.CheckOperationsTimeout(m, ops, patience)
		if result == porcupine.Ok {
			continue
		}
		slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		var b strings.Builder
		for _, o := range ops {
			fmt.Fprintf(&b, "\n  %v", o.Input.(act))
		}
		t.Errorf("%s: not linearizable (%v):%s", what, result, b.String())
	}
}

// inRow reports whether acts that have a place each may have happened in that row:
// none that ended before another began is behind that one.
func inRow(t judgeT, what string, acts []act, place func(act) int64) {
	t.Helper()
	acts = slices.Clone(acts)
	slices.SortFunc(acts, func(a, b act) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.call, b.call)) })
	earliest := act{ret: never}
	for _, a := range slices.Backward(acts) {
		if earliest.ret < a.call && place(earliest) > place(a) {
			t.Errorf("%s: not in the order of real time:\n  %v\n  %v", what, earliest, a)
		}
		if a.ret < earliest.ret {
			earliest = a
		}
	}
}

// judgeMachine judges a state machine that answers each command its number: a row
// of commands in which numbers that no client was told are those of commands of which
// the outcome is not known.
func judgeMachine(t judgeT, acts []act) {
	t.Helper()
	place := func(a act) int64 {
		if a.what == "look" {
			return 2*a.number + 1
		}
		return 2 * a.number
	}
	var row []act
	var lost []int64 // the calls of commands that were not answered
	told := map[int64]act{}
	last := int64(0)
	for _, a := range acts {
		if a.ret == never {
			lost = append(lost, a.call)
			continue
		}
		row = append(row, a)
		last = max(last, a.number)
		if a.what == "command" {
			if b, twice := told[a.number]; twice {
				t.Errorf("state machine: one number twice:\n  %v\n  %v", a, b)
			}
			told[a.number] = a
		}
	}
	inRow(t, "state machine", row, place)
	// Each missing number takes the earliest of the lost: it must have begun
	// before anything from that number on had ended.
	slices.Sort(lost)
	slices.SortFunc(row, func(a, b act) int { return cmp.Compare(place(b), place(a)) })
	ends := make([]int64, last+2) // the earliest end of what is behind a number
	ends[last+1] = never
	for n, i := last, 0; n > 0; n-- {
		ends[n] = ends[n+1]
		for ; i < len(row) && place(row[i]) >= 2*n; i++ {
			ends[n] = min(ends[n], row[i].ret)
		}
	}
	for n := int64(1); n <= last; n++ {
		if _, known := told[n]; known {
			continue
		}
		if len(lost) == 0 || lost[0] > ends[n] {
			t.Errorf("state machine: number %d of %d is nobody's command", n, last)
			return
		}
		lost = lost[1:]
	}
}
