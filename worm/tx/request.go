// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Limits of the key-value store. A request that exceeds one is refused with a
// wor.LimitError that names it.
const (
	// KeyMax and ValueMax are the longest key and value, in bytes.
	KeyMax   = 4 << 10
	ValueMax = 512 << 10
	// OpsMax bounds the operations and conditions of a request, RequestMax its
	// length in bytes.
	OpsMax     = 4096
	RequestMax = 768 << 10
	// WindowMax bounds the pending requests of a client.
	WindowMax = 4096
	// SessionsMax is the number of clients that a partition remembers. A
	// repeated request is recognized until that many other clients have written
	// to the partition.
	SessionsMax = 4096
)

// OpKind is what an Op does.
type OpKind uint8

// The operations.
const (
	OpGet OpKind = iota + 1
	// OpPut sets the value, OpDelete removes the key.
	OpPut
	OpDelete
	// OpIncr adds Delta to a value that is a decimal int64, or 0 if it is
	// absent.
	OpIncr
	// OpAppend appends to the value; an absent value counts as empty.
	OpAppend
)

// When is a condition of one operation.
type When uint8

// The conditions. An operation whose condition does not hold does nothing; the
// other operations of its request are performed.
const (
	Always When = iota
	IfAbsent
	IfPresent
)

// Op is one operation on one key.
type Op struct {
	Kind  OpKind
	When  When
	Key   string
	Value []byte
	Delta int64
}

// CondKind is the kind of a Cond.
type CondKind uint8

// The conditions of a request.
const (
	CondAbsent CondKind = iota + 1
	CondPresent
	// CondVersion: the last write of the key was by the transaction that gave
	// it this Version.
	CondVersion
	CondValue
)

// Cond is a condition on the whole request: if one condition does not hold, the
// request has no effect.
type Cond struct {
	Kind    CondKind
	Key     string
	Version uint64
	Value   []byte
}

// Request is a transaction: conditions, then operations, in order, on any keys.
type Request struct {
	// Client and Seq identify the request, so that it takes effect once however
	// often it is sent. Low says that the client has the answers to all its
	// requests with lower numbers. A request that writes nothing needs no
	// identity.
	Client, Seq, Low uint64
	// Within bounds the server's work on the request, in milliseconds.
	Within uint64
	Conds  []Cond
	Ops    []Op
}

// OpError is the reason why an operation did nothing.
type OpError uint8

// The errors of operations. The other operations of the request are performed.
const (
	OpOK OpError = iota
	// OpNotInteger: the value of an OpIncr is not an int64. OpOverflow: the sum
	// is not.
	OpNotInteger
	OpOverflow
	// OpTooLong: the value would exceed ValueMax.
	OpTooLong
)

func (e OpError) Error() string {
	switch e {
	case OpOK:
		return "ok"
	case OpNotInteger:
		return "value is not an integer"
	case OpOverflow:
		return "sum is out of range"
	case OpTooLong:
		return fmt.Sprintf("value would exceed tx.ValueMax (%d)", ValueMax)
	}
	return fmt.Sprintf("OpError(%d)", uint8(e))
}

// OpResult is the result of an operation.
type OpResult struct {
	// Err is OpOK unless the operation failed. Done reports whether its When
	// held.
	Err  OpError
	Done bool
	// Found reports whether the key was present before the operation. Value is
	// the result of an OpGet.
	Found bool
	Value []byte
	// Number is the sum of an OpIncr, or the new length of an OpAppend.
	Number int64
	// Version is the version of the value that an OpGet found.
	Version uint64
}

// Result is the answer to a Request.
type Result struct {
	// Held reports whether all conditions held. If so, Ops has the result of
	// each operation.
	Held bool
	Ops  []OpResult
}

// writes reports whether an operation may change something.
func (o *Op) writes() bool { return o.Kind != OpGet }

// ReadOnly reports whether the request has no operation that may change something.
func (q *Request) ReadOnly() bool {
	return !slices.ContainsFunc(q.Ops, func(o Op) bool { return o.writes() })
}

// Check returns the error of an invalid request, nil for a valid one.
func (q *Request) Check() error {
	limit := func(name string, limit, got int) error {
		return &wor.LimitError{Name: "tx." + name, Limit: int64(limit), Got: int64(got)}
	}
	if n := len(q.Ops) + len(q.Conds); n > OpsMax {
		return limit("OpsMax", OpsMax, n)
	}
	if len(q.Ops)+len(q.Conds) == 0 {
		return errors.New("a request needs at least one operation")
	}
	total := 0
	for i := range q.Ops {
		o := &q.Ops[i]
		if o.Kind < OpGet || o.Kind > OpAppend || o.When > IfPresent {
			return fmt.Errorf("operation %d: no such kind", i)
		}
		if len(o.Key) > KeyMax {
			return limit("KeyMax", KeyMax, len(o.Key))
		}
		if len(o.Value) > ValueMax {
			return limit("ValueMax", ValueMax, len(o.Value))
		}
		total += len(o.Key) + len(o.Value) + 32
	}
	for i := range q.Conds {
		c := &q.Conds[i]
		if c.Kind < CondAbsent || c.Kind > CondValue {
			return fmt.Errorf("condition %d: no such kind", i)
		}
		if len(c.Key) > KeyMax {
			return limit("KeyMax", KeyMax, len(c.Key))
		}
		total += len(c.Key) + len(c.Value) + 32
	}
	if total > RequestMax {
		return limit("RequestMax", RequestMax, total)
	}
	if q.Seq != 0 && (q.Low > q.Seq || q.Seq-q.Low >= WindowMax) {
		return limit("WindowMax", WindowMax, int(min(q.Seq-q.Low, 1<<30)))
	}
	if q.Seq == 0 && !q.ReadOnly() {
		return errors.New("a request that writes needs a Seq")
	}
	return nil
}

// PartitionOf returns the partition, of n, of a key; it must never change. If
// the key has a part in braces, only that counts, so that a client can keep
// keys together.
func PartitionOf(key string, n int) RM {
	if i := strings.IndexByte(key, '{'); i >= 0 {
		if j := strings.IndexByte(key[i+1:], '}'); j > 0 {
			key = key[i+1 : i+1+j]
		}
	}
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	h ^= h >> 32
	return RM(h % uint64(n))
}

// part is one partition's share of a request: some of its operations and
// conditions, in order.
type part struct {
	rm    RM
	conds []Cond
	ops   []Op
	// at has the indices of the operations in the request.
	at []int
}

// split divides a request by partition, in order.
func (q *Request) split(n int) []part {
	var parts []part
	find := func(key string) *part {
		rm := PartitionOf(key, n)
		i, ok := slices.BinarySearchFunc(parts, rm, func(p part, rm RM) int { return int(p.rm) - int(rm) })
		if !ok {
			parts = slices.Insert(parts, i, part{rm: rm})
		}
		return &parts[i]
	}
	for _, c := range q.Conds {
		p := find(c.Key)
		p.conds = append(p.conds, c)
	}
	for i, o := range q.Ops {
		p := find(o.Key)
		p.ops, p.at = append(p.ops, o), append(p.at, i)
	}
	return parts
}

// join merges the results of the parts. Briefs are those of the YES votes.
func join(parts []part, briefs [][]byte, ops int) (*Result, bool) {
	r := &Result{Held: true, Ops: make([]OpResult, ops)}
	for i := range parts {
		held, results, ok := decodeBrief(briefs[i])
		if !ok || held && len(results) != len(parts[i].at) {
			return nil, false
		}
		r.Held = r.Held && held
		for j := range results {
			r.Ops[parts[i].at[j]] = results[j]
		}
	}
	if !r.Held {
		r.Ops = nil
	}
	return r, true
}

func encodeOps(e *encoder, conds []Cond, ops []Op) {
	e.uint(uint64(len(conds)))
	for i := range conds {
		c := &conds[i]
		e.u8(uint8(c.Kind))
		e.string(c.Key)
		e.uint(c.Version)
		e.bytes(c.Value)
	}
	e.uint(uint64(len(ops)))
	for i := range ops {
		o := &ops[i]
		e.u8(uint8(o.Kind))
		e.u8(uint8(o.When))
		e.string(o.Key)
		e.bytes(o.Value)
		e.int(o.Delta)
	}
}

func decodeOps(d *decoder) (conds []Cond, ops []Op) {
	for range d.count(4, OpsMax) {
		conds = append(conds, Cond{CondKind(d.u8()), d.string(), d.uint(), d.bytes()})
	}
	for range d.count(5, OpsMax) {
		ops = append(ops, Op{OpKind(d.u8()), When(d.u8()), d.string(), d.bytes(), d.int()})
	}
	return conds, ops
}

func (q *Request) encode() []byte {
	var e encoder
	e.u64(q.Client)
	e.uint(q.Seq)
	e.uint(q.Low)
	e.uint(q.Within)
	encodeOps(&e, q.Conds, q.Ops)
	return e.b
}

func (q *Request) decode(b []byte) error {
	d := &decoder{b: b}
	q.Client = d.u64()
	q.Seq = d.uint()
	q.Low = d.uint()
	q.Within = d.uint()
	q.Conds, q.Ops = decodeOps(d)
	if !d.done() {
		return errors.New("invalid request")
	}
	return q.Check()
}

// encodePart encodes the part that is sent to an RM.
func (q *Request) encodePart(p *part) []byte {
	var e encoder
	e.u64(q.Client)
	e.uint(q.Seq)
	e.uint(q.Low)
	encodeOps(&e, p.conds, p.ops)
	return e.b
}

// decodePart decodes the output of encodePart as a Request of that part alone.
func decodePart(b []byte) (*Request, bool) {
	d := &decoder{b: b}
	q := &Request{Client: d.u64(), Seq: d.uint(), Low: d.uint()}
	q.Conds, q.Ops = decodeOps(d)
	return q, d.done()
}

func encodeResults(e *encoder, results []OpResult) {
	e.uint(uint64(len(results)))
	for i := range results {
		r := &results[i]
		e.u8(uint8(r.Err))
		e.bool(r.Done)
		e.bool(r.Found)
		e.bytes(r.Value)
		e.int(r.Number)
		e.uint(r.Version)
	}
}

func decodeResults(d *decoder) []OpResult {
	var out []OpResult
	for range d.count(6, OpsMax) {
		out = append(out, OpResult{OpError(d.u8()), d.bool(), d.bool(), d.bytes(), d.int(), d.uint()})
	}
	return out
}

// encodeBrief is the Brief of a YES vote.
func encodeBrief(held bool, results []OpResult) []byte {
	var e encoder
	e.bool(held)
	encodeResults(&e, results)
	return e.b
}

func decodeBrief(b []byte) (held bool, results []OpResult, ok bool) {
	d := &decoder{b: b}
	held = d.bool()
	results = decodeResults(d)
	return held, results, d.done()
}
