// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// complaints are what a judge has found.
type complaints []string

func (c *complaints) Helper()                        {}
func (c *complaints) Errorf(format string, a ...any) { *c = append(*c, fmt.Sprintf(format, a...)) }

// TestJudgesBite shows each judge a correct history and a wrong one.
func TestJudgesBite(t *testing.T) {
	at := func(call, ret int64, a act) act {
		a.call, a.ret = call, ret
		return a
	}
	registers := func(acts ...act) func(judgeT) {
		return func(t judgeT) { judge(t, "registers", registerModel(), acts) }
	}
	keys := func(acts ...act) func(judgeT) {
		return func(t judgeT) { judge(t, "keys", keyModel(), acts) }
	}
	machine := func(acts ...act) func(judgeT) {
		return func(t judgeT) { judgeMachine(t, acts) }
	}
	shared := func(in map[string]log.Position, acts ...act) func(judgeT) {
		return func(t judgeT) { judgeLog(t, acts, in) }
	}
	write := func(v string) act { return act{what: "write", value: v} }
	lost := act{what: "write", value: "lost", err: wor.ErrUnknown}
	read := func(v string, err error) act { return act{what: "read", value: v, err: err} }
	incr := func(n int64) act { return act{what: "incr", number: n} }
	command := func(n int64) act { return act{what: "command", number: n} }
	look := func(n int64) act { return act{what: "look", number: n} }
	append := func(v string, n int64, err error) act { return act{what: "append", value: v, number: n, err: err} }
	tail := func(n int64) act { return act{what: "tail", number: n} }
	for _, c := range []struct {
		name  string
		right bool
		run   func(judgeT)
	}{
		{"a write is read", true, registers(at(1, 2, write("a")), at(3, 4, read("a", nil)))},
		{"a write is lost", false, registers(at(1, 2, write("a")), at(3, 4, read("", wor.ErrUnwritten)))},
		{"two writes", false, registers(at(1, 2, write("a")), at(3, 4, write("b")))},
		{"an unknown one comes late", true, registers(at(1, never, lost), at(3, 4, read("", wor.ErrUnwritten)), at(5, 6, read("lost", nil)))},
		{"a read goes back", false, registers(at(1, never, lost), at(3, 4, read("lost", nil)), at(5, 6, read("", wor.ErrUnwritten)))},
		{"a trim is forgotten", false, registers(at(1, 2, act{what: "trim"}), at(3, 4, read("", wor.ErrUnwritten)))},
		{"a sum", true, keys(at(1, 2, incr(1)), at(3, never, incr(0)), at(4, 5, incr(3)))},
		{"a sum is lost", false, keys(at(1, 2, incr(1)), at(3, 4, incr(1)))},
		{"commands", true, machine(at(1, 4, command(2)), at(2, 5, command(1)), at(6, 7, look(2)))},
		{"a command of nobody", false, machine(at(1, 4, command(2)), at(6, 7, look(2)))},
		{"a lost command", true, machine(at(0, never, command(0)), at(1, 4, command(2)), at(6, 7, look(2)))},
		{"a command lost too late", false, machine(at(5, never, command(0)), at(1, 4, command(2)), at(6, 7, look(2)))},
		{"one number twice", false, machine(at(1, 4, command(1)), at(2, 5, command(1)))},
		{"an old look", false, machine(at(1, 2, command(1)), at(3, 4, look(0)))},
		{"a log", true, shared(map[string]log.Position{"a": 5, "b": 6}, at(1, 4, append("a", 5, nil)), at(2, never, append("b", 0, wor.ErrUnknown)), at(5, 6, tail(7)))},
		{"an append is lost", false, shared(nil, at(1, 4, append("a", 5, nil)))},
		{"an append is elsewhere", false, shared(map[string]log.Position{"a": 6}, at(1, 4, append("a", 5, nil)))},
		{"an append of nobody", false, shared(map[string]log.Position{"a": 6})},
		{"what was refused is there", false, shared(map[string]log.Position{"a": 6}, at(1, 2, append("a", 0, errNothing)))},
		{"an append below an earlier one", false, shared(map[string]log.Position{"a": 6, "b": 5}, at(1, 2, append("a", 6, nil)), at(3, 4, append("b", 5, nil)))},
		{"a low tail", false, shared(map[string]log.Position{"a": 6}, at(1, 2, append("a", 6, nil)), at(3, 4, tail(6)))},
		{"a high tail", false, shared(map[string]log.Position{"a": 6}, at(1, 2, tail(7)), at(3, 4, append("a", 6, nil)))},
		{"a read of what is not there", false, shared(map[string]log.Position{"a": 6}, at(1, 2, append("a", 6, nil)),
			at(3, 4, act{what: "read", on: log.Position(6).String(), err: wor.ErrUnwritten}))},
	} {
		var found complaints
		c.run(&found)
		if c.right != (len(found) == 0) {
			t.Errorf("%s: %q", c.name, []string(found))
		}
	}
	if !isNothing(wor.ErrDeadline) || isNothing(&wor.UnknownError{Cause: wor.ErrDeadline}) || isNothing(errors.New("else")) {
		t.Error("what says that nothing was done")
	}
}
