// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/worm/history"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

const (
	theLog     log.ID = 7
	theMachine smr.ID = 9
	// registersEach is the number of registers of a segment, segmentEvery the time that
	// clients use one segment, and keyEvery the time that they use one key: unknown
	// outcomes stay unknown, and with many of them an order takes long to find.
	registersEach = 6
	segmentEvery  = 500 * time.Millisecond
	keyEvery      = 500 * time.Millisecond
)

// workload is clients of all kinds.
type workload struct {
	t     *testing.T
	start time.Time
	stop  context.Context
	wait  sync.WaitGroup

	registers, log, keys, machine *record
	handles                       []*handles

	mu     sync.Mutex
	txns   []history.Txn
	placed map[log.Position]string // the value at each position
	some   []log.Position
}

func newWorkload(t *testing.T, stop context.Context) *workload {
	now := time.Now()
	return &workload{
		t: t, start: now, stop: stop, placed: map[log.Position]string{},
		registers: newHistory(now), log: newHistory(now), keys: newHistory(now), machine: newHistory(now),
	}
}

// worker is one goroutine of a client.
type worker struct {
	*workload
	c      *worm.Client
	number int
	r      *rand.Rand
	n      int
}

// run starts a worker that repeats one operation until the end. Now and then it pauses.
func (w *workload) run(c *worm.Client, number int, work func(*worker)) {
	k := &worker{workload: w, c: c, number: number, r: rand.New(rand.NewPCG(uint64(number), 5))}
	w.wait.Go(func() {
		for w.stop.Err() == nil {
			k.n++
			work(k)
			time.Sleep(time.Duration(k.r.IntN(8)) * time.Millisecond)
		}
	})
}

// name returns a value that no other client writes.
func (k *worker) name() string { return fmt.Sprintf("%d.%d", k.number, k.n) }

// while returns how long an operation may take: sometimes less than it needs.
func (k *worker) while() (context.Context, context.CancelFunc) {
	d := 3 * time.Second
	if k.r.IntN(10) == 0 {
		d = time.Duration(k.r.IntN(5000)) * time.Microsecond
	}
	return context.WithTimeout(context.Background(), d)
}

// segment returns the one that clients use now.
func (k *worker) segment() (wor.Segment, wor.Meta) {
	n := uint64(time.Since(k.start)/segmentEvery) + 1
	return wor.Segment(n), wor.Meta{
		Owner: 1, Size: registersEach, Partition: wor.Partition(n / 3 % 2), Protocol: wor.Protocol(n % 3),
	}
}

func onRegister(a wor.Addr) string { return fmt.Sprint(a.Segment, ".", a.Offset) }

// register does some operation on the registers of the current segment.
func (k *worker) register() {
	s, m := k.segment()
	ctx, cancel := k.while()
	defer cancel()
	if k.n%20 == 1 {
		// The first client allocates; all request the same.
		k.c.Alloc(ctx, s, m)
	}
	a := wor.Addr{Segment: s, Offset: uint32(k.r.IntN(registersEach))}
	x := act{client: k.number, on: onRegister(a), call: k.registers.now()}
	switch k.r.IntN(12) {
	case 0, 1, 2:
		x.what, x.value = "write", k.name()
		k.registers.register(x, k.c.Propose(ctx, a, []byte(x.value)))
	case 3, 4, 5:
		x.what = "read"
		v, err := k.c.Read(ctx, a)
		x.value = string(v)
		k.registers.register(x, err)
	case 6, 7:
		x.what = "read"
		cells, err := k.c.ReadRange(ctx, wor.Range{Segment: s, Hi: registersEach})
		for i, cell := range cells {
			x.on, x.value = onRegister(wor.Addr{Segment: s, Offset: uint32(i)}), string(cell.Value)
			k.registers.register(x, cell.Err)
		}
		if err != nil {
			k.registers.register(x, err)
		}
	case 8, 9, 10:
		k.token(ctx, s)
	default:
		if m.Protocol == wor.Fast {
			x.what, x.value = "write", k.name()
			k.registers.register(x, k.c.WriteUnsafe(ctx, a, []byte(x.value)))
		} else if s%4 == 0 && k.r.IntN(12) == 0 {
			k.trim(ctx, s)
		}
	}
}

// token captures a range and writes part of it.
func (k *worker) token(ctx context.Context, s wor.Segment) {
	lo := uint32(k.r.IntN(registersEach))
	token, err := k.c.Capture(ctx, wor.Range{Segment: s, Lo: lo, Hi: min(lo+3, registersEach)})
	if err != nil {
		return
	}
	for off := token.Range.Lo; off < token.Range.Hi; off++ {
		value, free := token.Find(off)
		if free {
			value = []byte(fmt.Sprint(k.name(), "@", off))
		}
		x := act{what: "write", client: k.number, on: onRegister(wor.Addr{Segment: s, Offset: off}), value: string(value), call: k.registers.now()}
		k.registers.register(x, k.c.Write(ctx, token, off, value))
	}
}

func (k *worker) trim(ctx context.Context, s wor.Segment) {
	call := k.registers.now()
	err := k.c.Trim(ctx, s)
	if isNothing(err) {
		return
	}
	for off := range uint32(registersEach) {
		k.registers.register(act{what: "trim", client: k.number, on: onRegister(wor.Addr{Segment: s, Offset: off}), call: call}, err)
	}
}

// append appends to the log, once, or repeatedly until the entry is there.
func (k *worker) append(h *handles) {
	l := h.theLog()
	id := log.EntryID{Hi: uint64(k.number), Lo: uint64(k.n)}
	x := act{what: "append", client: k.number, value: k.name(), call: k.log.now()}
	perhaps := false // some attempt may have taken effect
	for {
		ctx, cancel := k.while()
		at, err := l.AppendOnce(ctx, id, []byte(x.value))
		cancel()
		x.number, x.err, x.ret = int64(at), err, k.log.now()
		// Another Log does not know the attempts of this one.
		again := k.number%2 == 0 && k.stop.Err() == nil && l == h.theLog()
		switch {
		case err == nil:
			k.mu.Lock()
			k.placed[at] = x.value
			k.some = append(k.some, at)
			k.mu.Unlock()
			k.log.add(x)
			return
		case errors.Is(err, wor.ErrUnknown), isNothing(err):
			perhaps = perhaps || !isNothing(err)
			if again {
				continue
			}
			if x.err, x.ret = wor.ErrUnknown, never; !perhaps {
				x.err = errNothing
			}
			k.log.add(x)
			return
		}
		k.t.Errorf("append: %v", err)
		return
	}
}

// look reads the log: its tail, or the content at or after a known position.
func (k *worker) look(l *worm.Log) {
	ctx, cancel := k.while()
	defer cancel()
	x := act{what: "tail", client: k.number, call: k.log.now()}
	k.mu.Lock()
	var at log.Position
	if n := len(k.some); n > 0 {
		at = k.some[n-1-k.r.IntN(min(n, 40))]
	}
	k.mu.Unlock()
	if at == 0 || k.r.IntN(3) == 0 {
		tail, err := l.Tail(ctx)
		if err == nil {
			x.number, x.ret = int64(tail), k.log.now()
			k.log.add(x)
		} else if !isNothing(err) {
			k.t.Errorf("tail: %v", err)
		}
		return
	}
	at += log.Position(k.r.IntN(2))
	e, err := l.Read(ctx, at)
	x.what, x.number, x.on, x.err, x.ret = "read", int64(at), at.String(), err, k.log.now()
	x.value = content(e)
	switch {
	case err == nil, errors.Is(err, wor.ErrUnwritten):
		k.log.add(x)
	case !isNothing(err) && !errors.Is(err, wor.ErrUnknown) && !errors.Is(err, wor.ErrLimit): // behind a segment
		k.t.Errorf("read of %v: %v", at, err)
	}
}

// content returns the content of an entry, as a value of a register.
func content(e log.Entry) string {
	switch e.Kind {
	case log.Data:
		return string(e.Data)
	case log.Junk, log.Strange:
		return "junk"
	case log.Mark:
		return "mark"
	}
	return ""
}

// transact appends to lists and reads them.
func (k *worker) transact(kv *worm.KV) {
	round := int(time.Since(k.start) / (3 * time.Second))
	name := k.name()
	x := history.Txn{Name: name, Begin: k.keys.now(), Status: history.Unknown}
	var ops []tx.Op
	for j := range 1 + k.r.IntN(4) {
		key := fmt.Sprintf("list%d.%d", round, k.r.IntN(5))
		if k.r.IntN(2) == 0 {
			v := fmt.Sprint(name, ".", j)
			ops = append(ops, tx.Op{Kind: tx.OpAppend, Key: key, Value: []byte(v + ",")})
			x.Ops = append(x.Ops, history.Op{Key: key, Append: v})
		} else {
			ops = append(ops, tx.Op{Kind: tx.OpGet, Key: key})
			x.Ops = append(x.Ops, history.Op{Key: key})
		}
	}
	ctx, cancel := k.while()
	defer cancel()
	result, err := kv.Do(ctx, nil, ops...)
	x.End = k.keys.now()
	switch {
	case err == nil:
		x.Status = history.Committed
		for i := range x.Ops {
			if x.Ops[i].Append == "" {
				x.Ops[i].List = strings.FieldsFunc(string(result.Ops[i].Value), func(r rune) bool { return r == ',' })
			}
		}
	case isNothing(err):
		x.Status = history.Aborted
	case !errors.Is(err, wor.ErrUnknown):
		k.t.Errorf("transaction: %v", err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.txns = append(k.txns, x)
}

// key does some operation on the current key.
func (k *worker) key(kv *worm.KV) {
	x := act{client: k.number, on: fmt.Sprint("key", time.Since(k.start)/keyEvery), call: k.keys.now()}
	ctx, cancel := k.while()
	defer cancel()
	var err error
	switch k.r.IntN(5) {
	case 0:
		x.what, x.value = "put", fmt.Sprint(k.r.IntN(1000)*1000)
		err = kv.Set(ctx, x.on, []byte(x.value))
	case 1, 2:
		x.what = "get"
		var v []byte
		v, err = kv.Get(ctx, x.on)
		if errors.Is(err, worm.ErrNoKey) {
			err = nil
		}
		x.value = string(v)
	default:
		x.what = "incr"
		x.number, err = kv.Incr(ctx, x.on, 1)
	}
	x.ret, x.err = k.keys.now(), err
	switch {
	case err == nil:
		k.keys.add(x)
	case isNothing(err), x.what == "get":
	case errors.Is(err, wor.ErrUnknown):
		x.ret = never
		k.keys.add(x)
	default:
		k.t.Errorf("%s: %v", x.what, err)
	}
}

// counter is a state machine that counts its commands, and answers each with its number.
type counter struct{ n uint64 }

func (c *counter) Apply([]byte) []byte {
	c.n++
	return binary.BigEndian.AppendUint64(nil, c.n)
}

func (c *counter) Snapshot() func() []byte {
	pieces := [][]byte{binary.BigEndian.AppendUint64(nil, c.n)}
	return func() []byte {
		if len(pieces) == 0 {
			return nil
		}
		p := pieces[0]
		pieces = pieces[1:]
		return p
	}
}

func (c *counter) Restore() func([]byte) error {
	var n uint64
	return func(piece []byte) error {
		if piece == nil {
			c.n = n
			return nil
		}
		if len(piece) != 8 {
			return fmt.Errorf("a counter of %d bytes", len(piece))
		}
		n = binary.BigEndian.Uint64(piece)
		return nil
	}
}

// command submits a command, or reads the count.
func (k *worker) command(r *worm.Replica, m *counter) {
	x := act{what: "command", client: k.number, value: k.name(), call: k.machine.now()}
	ctx, cancel := k.while()
	defer cancel()
	var err error
	if k.r.IntN(3) == 0 {
		x.what = "look"
		var n uint64
		err = r.Read(ctx, smr.Linearizable, 0, func() { n = m.n })
		if err == nil {
			x.number = int64(n)
		}
	} else {
		var result smr.Result
		if result, err = r.Propose(ctx, []byte(x.value)); err == nil {
			x.number = int64(binary.BigEndian.Uint64(result.Value))
		}
	}
	x.ret, x.err = k.machine.now(), err
	switch {
	case err == nil:
		k.machine.add(x)
	case isNothing(err), x.what == "look":
	case errors.Is(err, wor.ErrUnknown):
		x.ret = never
		k.machine.add(x)
	default:
		k.t.Errorf("%s: %v", x.what, err)
	}
}
