// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// memory is a Store that answers when the test asks it to, in any order.
type memory struct {
	values  map[string][]byte
	version map[string]uint64
	clock   uint64
	// hold: answers wait in held.
	hold bool
	held []func()
	fail error
	// begun has the transactions, in order.
	begun []string
}

func newMemory() *memory { return &memory{values: map[string][]byte{}, version: map[string]uint64{}} }

func (m *memory) Do(t *Txn, done func(bool, []Result, error)) {
	var names []string
	for _, o := range t.Ops {
		names = append(names, fmt.Sprint(o.Kind, " ", o.Key))
	}
	m.begun = append(m.begun, strings.Join(names, ", "))
	answer := func() {
		if m.fail != nil {
			done(false, nil, m.fail)
			return
		}
		for _, w := range t.Watches {
			if m.version[w.Key] != w.Version {
				done(false, nil, nil)
				return
			}
		}
		r := make([]Result, len(t.Ops))
		for i := range t.Ops {
			m.one(&t.Ops[i], &r[i])
		}
		done(true, r, nil)
	}
	if m.hold {
		m.held = append(m.held, answer)
		return
	}
	answer()
}

func (m *memory) one(o *Op, r *Result) {
	v, ok := m.values[o.Key]
	r.Found, r.Version = ok, m.version[o.Key]
	if o.When == IfAbsent && ok || o.When == IfPresent && !ok {
		return
	}
	r.Done = true
	m.clock++
	switch o.Kind {
	case Get:
		r.Value = v
		return
	case Count:
		r.Number = int64(len(m.values))
		return
	case Set:
		m.values[o.Key] = o.Value
	case Delete:
		delete(m.values, o.Key)
	case Append:
		m.values[o.Key] = slices.Concat(v, o.Value)
		r.Number = int64(len(m.values[o.Key]))
	case Incr:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil && ok {
			r.Failure = NotInteger
			return
		}
		if o.Delta > 0 && n > 1<<63-1-o.Delta {
			r.Failure = Overflow
			return
		}
		r.Number = n + o.Delta
		m.values[o.Key] = strconv.AppendInt(nil, r.Number, 10)
	}
	m.version[o.Key] = m.clock
}

// lines formats replies, one on each line, as Go would write them.
func lines(b []byte) (s string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(string(b), "\r\n"), "\r\n") {
		q := strconv.Quote(l)
		s += q[1:len(q)-1] + "\n"
	}
	return strings.ReplaceAll(s, `\"`, `"`)
}

// TestDialogues plays the files of testdata: what a client sends, one line each, and the
// replies that it gets.
func TestDialogues(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		m := newMemory()
		woken := 0
		c := New(m, Limits{Bulk: 40, Inline: 200, Args: 12, Queue: 3}, func() { woken++ })
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			show := func() string {
				s := lines(c.Take())
				if c.Closed() {
					s += "(closed)\n"
				}
				return s
			}
			switch d.Cmd {
			case "new":
				c = New(m, Limits{Bulk: 40, Inline: 200, Args: 12, Queue: 3}, func() {})
				return ""
			case "send": // each line is one inline command
				c.Feed([]byte(strings.ReplaceAll(d.Input, "\n", "\r\n") + "\r\n"))
			case "raw": // \r\n are written as escapes
				b, err := strconv.Unquote(`"` + strings.ReplaceAll(d.Input, "\n", "") + `"`)
				if err != nil {
					t.Fatal(err)
				}
				for i := range len(b) { // byte by byte
					c.Feed([]byte{b[i]})
				}
			case "other": // another connection
				o := New(m, Limits{}, func() {})
				o.Feed([]byte(d.Input + "\r\n"))
				return lines(o.Take())
			case "hold":
				m.hold, m.begun = true, nil
				return ""
			case "begun":
				return strings.Join(m.begun, "\n") + "\n"
			case "answer":
				var i int
				d.ScanArgs(t, "n", &i)
				f := m.held[i]
				m.held = slices.Delete(m.held, i, i+1)
				f()
			case "free":
				m.hold = false
				for len(m.held) > 0 {
					f := m.held[0]
					m.held = m.held[1:]
					f()
				}
			case "fail":
				if m.fail = nil; d.Input != "" {
					m.fail = errors.New(d.Input)
				}
				return ""
			}
			return show()
		})
	})
}

// TestRepliesComeInOrder: the Store answers commands in any order, and each reply is
// compared with that of the command alone.
func TestRepliesComeInOrder(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := newMemory()
		m.hold = true
		c := New(m, Limits{Pipeline: 16}, func() {})
		plain := newMemory()
		p := New(plain, Limits{}, func() {})
		var got, want bytes.Buffer
		for range 300 {
			k := r.IntN(4)
			line := []string{"INCR n%d", "APPEND a%d x", "GET n%d", "STRLEN a%d", "MGET n%d a0 a1", "PING %d", "NOSUCH %d"}[r.IntN(7)]
			line = fmt.Sprintf(line+"\r\n", k)
			switch r.IntN(12) {
			case 0:
				line = "DBSIZE\r\n"
			case 1:
				line = fmt.Sprintf("DEL n%d a%d\r\n", k, k)
			}
			p.Feed([]byte(line))
			want.Write(p.Take())
			for c.Full() && len(m.held) > 0 {
				step(m, r)
				got.Write(c.Take())
			}
			c.Feed([]byte(line))
			if r.IntN(3) == 0 && len(m.held) > 0 {
				step(m, r)
			}
			got.Write(c.Take())
		}
		for len(m.held) > 0 {
			step(m, r)
			got.Write(c.Take())
		}
		if got.String() != want.String() {
			t.Fatalf("seed %d: got\n%q\nwant\n%q", seed, got.String(), want.String())
		}
	}
}

// TestMemoryIsBounded sends without taking replies: the memory of a connection stays near
// its limits, whatever the Store does; and everything is answered when the client reads
// again.
func TestMemoryIsBounded(t *testing.T) {
	const long = 100 << 10
	value := strings.Repeat("x", long)
	for _, command := range []string{"SET k%d " + value, "GET k%d"} {
		m := newMemory()
		for i := range 8 {
			m.values[fmt.Sprint("k", i)] = []byte(value)
		}
		m.hold = true
		lim := Limits{Inline: 2 * long, Waiting: 1 << 20, Output: 1 << 20}
		c := New(m, lim, func() {})
		sent, most, replies, taken := 0, 0, 0, 0
		for round := range 2000 {
			if !c.Full() && sent < 400 {
				c.Feed(fmt.Appendf(nil, command+"\r\n", sent%8))
				sent++
			}
			if round > 100 && round%3 == 2 && len(m.held) > 0 { // the last first, so that replies wait
				f := m.held[len(m.held)-1]
				m.held = m.held[:len(m.held)-1]
				f()
			}
			if len(m.held) > 2*firstFlying {
				t.Fatalf("%.6s: the store has %d commands of long replies", command, len(m.held))
			}
			most = max(most, c.weigh())
		}
		if limit := lim.Waiting + lim.Output + firstFlying*long + 8*long; most > limit {
			t.Errorf("%.6s: %d bytes are held, want %d at most", command, most, limit)
		}
		for round := 0; replies < 400 && round < 10000; round++ {
			if !c.Full() && sent < 400 {
				c.Feed(fmt.Appendf(nil, command+"\r\n", sent%8))
				sent++
			}
			if len(m.held) > 0 {
				f := m.held[0]
				m.held = m.held[1:]
				f()
			}
			b := c.Take()
			taken += len(b)
			if command[0] == 'S' {
				replies += bytes.Count(b, []byte("+OK\r\n"))
			} else {
				replies = taken / (long + 11)
			}
		}
		if replies != 400 || c.Load() != 0 {
			t.Errorf("%.6s: %d replies of 400, and %d bytes are held in the end", command, replies, c.Load())
		}
	}
}

// weigh counts the bytes of a connection independently.
func (c *Conn) weigh() int {
	n := cap(c.parse.buf) + len(c.out)
	for _, j := range c.queue {
		n += len(j.reply)
		for _, a := range j.args {
			n += len(a)
		}
	}
	return n
}

func step(m *memory, r *rand.Rand) {
	i := r.IntN(len(m.held))
	f := m.held[i]
	m.held = slices.Delete(m.held, i, i+1)
	f()
}

// FuzzConn feeds arbitrary bytes, in pieces: nothing may panic, replies must be whole
// lines, and memory must be bounded.
func FuzzConn(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\na\r\nSET a \"x y\"\r\nMULTI\r\nINCR a\r\nEXEC\r\n"), uint8(3))
	f.Add([]byte("WATCH a\r\nMULTI\r\nSET a 1\r\nEXEC\r\nQUIT\r\n"), uint8(1))
	f.Add([]byte("*1000000000\r\n$5\r\n"), uint8(9))
	f.Add([]byte("*-1\r\n*0\r\n\r\n$3\r\n"), uint8(0))
	f.Add([]byte("HELLO 3\r\nMGET a b\r\nCONFIG GET *\r\nINFO\r\n"), uint8(200))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		m := newMemory()
		lim := Limits{Bulk: 100, Args: 16, Command: 400, Inline: 120, Pipeline: 4, Output: 4096, Queue: 4, Watched: 4}
		c := New(m, lim, func() {})
		for len(b) > 0 {
			n := min(len(b), int(piece)+1)
			c.Feed(b[:n])
			b = b[n:]
			if len(c.queue) > lim.Pipeline+1 || cap(c.parse.buf) > 64<<10 {
				t.Fatalf("%d commands and %d bytes wait", len(c.queue), cap(c.parse.buf))
			}
			if out := c.Take(); len(out) > 0 && !bytes.HasSuffix(out, []byte("\r\n")) {
				t.Fatalf("half a reply: %q", out)
			}
		}
	})
}
