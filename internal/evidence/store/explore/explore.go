// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// Options of an exploration. The zero value of a number is its default.
type Options struct {
	Subject Subject
	Profile Profile
	Seed    uint64
	// Ops is the workload. Nil means the one that the profile generates for the
	// seed.
	Ops []Op
	// Depth is the number of crashes in a row: default 3.
	Depth int
	// With at most Subsets changes (default 10) every subset is a state; with more,
	// Samples random subsets are (default 64).
	Subsets, Samples int
	// The exploration continues from one in Deeper images and crashes it again
	// (default 200). It verifies one in Verified images (default 16).
	Deeper, Verified int
	// FaultRuns bounds the number of runs for each kind of fault: default 40;
	// -1: none.
	FaultRuns int
	// Part of Parts is the share of the moments whose states are explored: every
	// Parts-th group of neighbours, which have many images in common. Part 0 has the
	// faults too, and counts the run itself. Parts 0 is everything.
	Part, Parts int
	// Only replays one state: Failure.Path has the numbers; empty, but not nil,
	// it replays the workload without a crash. Fault replays one fault, as
	// Failure.Fault names it, and explores no crash.
	Only  []Step
	Fault string
	// kind leaves out crashes and all other kinds of faults, for Shrink.
	kind FaultKind
}

func (o Options) complete() Options {
	def := func(n *int, to int) {
		if *n == 0 {
			*n = to
		}
	}
	def(&o.Depth, 3)
	def(&o.Subsets, 10)
	def(&o.Samples, 64)
	def(&o.Deeper, 200)
	def(&o.Verified, 16)
	def(&o.FaultRuns, 40)
	if o.Ops == nil {
		o.Ops = o.Profile.Generate(o.Seed)
	}
	return o
}

// neighbours is the number of consecutive moments of one part.
const neighbours = 16

// has reports whether a moment of the workload belongs to the part.
func (o Options) has(moment int) bool {
	return o.Parts == 0 || moment/neighbours%o.Parts == o.Part
}

// Step is one crash: the number of the moment in its run, and the number of the
// state at that moment.
type Step struct{ Moment, State int }

func (s Step) String() string { return fmt.Sprintf("%d:%d", s.Moment, s.State) }

// live stands for a path without a crash.
const live = "live"

// ParsePath parses a path that Failure.Replay has printed: steps joined by "/".
func ParsePath(text string) ([]Step, error) {
	out := []Step{}
	if text == live {
		return out, nil
	}
	for _, part := range strings.Split(text, "/") {
		a, b, ok := strings.Cut(part, ":")
		m, err1 := strconv.Atoi(a)
		n, err2 := strconv.Atoi(b)
		if !ok || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%q is no MOMENT:STATE", part)
		}
		out = append(out, Step{m, n})
	}
	return out, nil
}

// Report is the result of an exploration.
type Report struct {
	Moments uint64 // at which states were made
	States  uint64 // crash states
	Images  uint64 // of them, with different bytes: each was opened; one that several parts of a seed reach is counted in each
	Opens   uint64 // of stores, faults included
	Deep    [8]uint64
	Reads   uint64 // that gave the right answer
	Verify  uint64
	// Coverage counts classes of states ("state prefix"), faults that struck
	// ("fault flip"), operations ("op put") and marks of the subject.
	Coverage map[string]uint64
	Hash     uint64 // of all outcomes, in order
	Failure  *Failure
}

// Add adds the counts of another exploration. Hashes are added too.
func (r *Report) Add(o Report) {
	r.Moments += o.Moments
	r.States += o.States
	r.Images += o.Images
	r.Opens += o.Opens
	r.Reads += o.Reads
	r.Verify += o.Verify
	r.Hash += o.Hash
	for i := range r.Deep {
		r.Deep[i] += o.Deep[i]
	}
	if r.Coverage == nil {
		r.Coverage = map[string]uint64{}
	}
	for k, n := range o.Coverage {
		r.Coverage[k] += n
	}
	if r.Failure == nil {
		r.Failure = o.Failure
	}
}

// Missing returns the names that were never counted.
func (r *Report) Missing(names []string) []string {
	var out []string
	for _, n := range names {
		if r.Coverage[n] == 0 {
			out = append(out, n)
		}
	}
	return out
}

// Required are the names that the coverage of a whole suite must have whatever
// the subject: every class, every fault, every operation.
func Required() []string {
	var out []string
	for c := None; c < classes; c++ {
		out = append(out, "state "+c.String())
	}
	for k := FlipBit; k < faultKinds; k++ {
		out = append(out, "fault "+k.String())
	}
	for k := Put; k < opKinds; k++ {
		out = append(out, "op "+k.String())
	}
	return append(out, "delete on a full disk")
}

// explorer is a running exploration.
type explorer struct {
	o       Options
	keys    []string
	report  Report
	scanner scanner
	failure *Failure
	over    bool // the state to replay has been checked
}

// marks counts the events that the subject traces.
type marks map[string]uint64

// Trace implements env.Tracer.
func (m marks) Trace(e env.Event) {
	if mark, ok := e.(env.Mark); ok {
		m[string(mark)]++
	}
}

// Run explores one seed: every crash state of its workload, and then faults in
// operation and in recovery.
func Run(o Options) Report {
	x := &explorer{o: o.complete()}
	x.report.Coverage = map[string]uint64{}
	x.keys = x.o.Profile.keys()
	if x.o.Fault == "" && x.o.kind == NoFault {
		x.crashes()
	}
	if x.failure == nil && x.o.FaultRuns > 0 && x.o.Only == nil && x.o.Part == 0 {
		x.faults()
	}
	x.report.Failure = x.failure
	return x.report
}

// explored is what an explorer knows about a session: the last moment of the disk, and
// the images that it has seen.
type explored struct {
	*session
	x       *explorer
	depth   int // 1: the workload itself
	path    []Step
	limits  limits
	seen    map[uint64]int // image -> the last moment whose content it has
	moments int
	changes int // of the disk, at the last moment
	syncs   int
	promise int // acked, at the last moment
	units   int
	states  int
	random  uint64
}

// deepStates is the number of states after which the exploration after a crash ends. Such
// an exploration also leaves out every other moment: there are many of them.
const deepStates = 200

func (x *explorer) explored(s *session, depth int, path []Step, l limits, random uint64) *explored {
	e := &explored{session: s, x: x, depth: depth, path: path, limits: l, seen: map[uint64]int{}, random: random,
		changes: -1, promise: -1}
	s.disk.hook = func(what string) {
		s.during = what
		e.moment()
	}
	return e
}

// crashes runs the workload and explores the states of all its moments.
func (x *explorer) crashes() {
	tracer := marks(x.report.Coverage)
	if x.o.Part > 0 { // all parts make the same run: one of them counts it
		tracer = marks{}
	}
	s := newSession(x.o.Subject, tracer, NewDisk(), newHistory(x.keys, 0, nil))
	s.scan = &x.scanner
	e := x.explored(s, 1, nil, limits{x.o.Subsets, x.o.Samples, min(x.o.Subsets, tornMax)}, x.o.Seed)
	e.guard(func() (err, bad error) { return s.open() })
	if !x.ended() {
		e.run(x.o.Ops)
	}
	if !x.ended() {
		s.during = "closing"
		e.guard(func() (err, bad error) { return s.close() })
	}
	if !x.ended() {
		if x.o.Subject.Durable(Reopen) {
			s.ack()
		}
		e.moment()
	}
	if x.o.Part == 0 {
		x.report.Reads += s.reads
	}
	s.abandon()
}

// run does operations, and also checks the disk between them.
func (e *explored) run(ops []Op) {
	for i := range ops {
		if e.depth > 1 || e.x.o.Part == 0 {
			e.x.report.Coverage["op "+ops[i].Kind.String()]++
		}
		e.during = "between operations"
		e.guard(func() (err, bad error) { return e.exec(&ops[i]) })
		if e.x.ended() {
			return
		}
		e.moment()
		if e.x.ended() {
			return
		}
	}
}

// guard does something to the store that must succeed. Any failure or panic is reported
// as a failure.
func (e *explored) guard(do func() (err, bad error)) {
	defer func() {
		if r := recover(); r != nil {
			e.x.fail(e.failure(nil, fmt.Errorf("panic: %v\n%s", r, debug.Stack())))
		}
	}()
	err, bad := do()
	if err != nil {
		bad = fmt.Errorf("an error without a cause: %w", err)
	}
	if bad != nil && !e.x.ended() {
		e.x.fail(e.failure(nil, bad))
	}
}

// moment explores the states that a crash may leave right now.
func (e *explored) moment() {
	x, d := e.x, e.disk
	if x.ended() || d.dead != nil || e.changes == d.changes && e.promise == e.acked {
		return
	}
	number := e.moments
	e.moments++
	if e.depth > 1 && (e.states > deepStates || mix(e.random, uint64(number))&1 == 0) {
		return
	}
	var only *Step
	if x.o.Only != nil {
		if e.depth > len(x.o.Only) {
			return
		}
		only = &x.o.Only[e.depth-1]
	}
	fresh := 0
	if e.promise == e.acked && e.syncs == d.syncs {
		fresh = min(e.units, len(d.units))
	}
	e.changes, e.syncs, e.promise, e.units = d.changes, d.syncs, e.acked, len(d.units)
	if only != nil && only.Moment != number || e.depth == 1 && !x.o.has(number) {
		return
	}
	x.report.Moments++
	hook := d.hook
	d.hook = nil // the disk is looked at, not changed
	state := -1
	choices(d.units, fresh, e.limits, env.Seeded(mix(e.random, uint64(number))), func(c choice) bool {
		state++
		if only == nil || only.State == state {
			e.state(c, Step{number, state})
		}
		return x.failure == nil && (only == nil || only.State > state)
	})
	d.hook = hook
	x.over = x.over || only != nil && e.depth == 1
	if x.ended() {
		d.dead = errAbandoned
	}
}

// state makes one crash state and checks it, unless it is known.
func (e *explored) state(c choice, at Step) {
	x := e.x
	e.states++
	x.report.States++
	x.report.Coverage["state "+c.class.String()]++
	var random env.Random
	if c.torn >= 0 {
		random = env.Seeded(mix(mix(e.random, uint64(at.Moment)), uint64(at.State)))
	}
	cr := e.disk.crashed(c, random)
	if last, known := e.seen[cr.sum]; known {
		if last >= e.acked {
			return
		}
	} else {
		x.report.Images++
	}
	path := append(e.path[:len(e.path):len(e.path)], at)
	e.seen[cr.sum] = e.look(cr, c, path)
}

// look opens the store on a crash state and compares; now and then it continues from
// there. It returns the last moment with this state.
func (e *explored) look(cr crash, c choice, path []Step) (last int) {
	x := e.x
	s := newSession(e.subject, marks(x.report.Coverage), cr.disk(e.acked), e.h)
	s.made, s.acked, s.before, s.scan = e.made, e.acked, e.before, e.scan
	x.report.Opens++
	x.report.Deep[e.depth]++
	fail := func(err error) {
		f := e.failure(&c, err)
		f.Path = path
		x.fail(f)
	}
	defer func() {
		if r := recover(); r != nil {
			fail(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	defer s.abandon()
	err, bad := s.open()
	var found []record
	if err == nil && bad == nil {
		last, found, err, bad = s.recovered(e.acked, 4)
	}
	if err == nil && bad == nil && len(e.copies) > 0 && cr.sum%8 < 3 {
		err, bad = e.copiesOn(s.disk)
	}
	verified := x.o.Only != nil || cr.sum>>8%uint64(x.o.Verified) == 0
	if err == nil && bad == nil && verified {
		x.report.Verify++
		if err = s.store.Verify(); err != nil {
			err = fmt.Errorf("Verify: %w", err)
		}
	}
	if err != nil {
		bad = fmt.Errorf("the store does not recover: %w", err)
	}
	if bad != nil {
		fail(bad)
		return 0
	}
	x.report.Reads += s.reads
	x.report.Hash = mix(x.report.Hash, mix(cr.sum, uint64(last)))
	if e.depth < x.o.Depth && (e.depth <= len(x.o.Only) || x.o.Only == nil && cr.sum>>16%uint64(x.o.Deeper) == 0) {
		e.deeper(s, found, path, cr.sum)
	}
	return last
}

// copiesOn checks the copies that a disk must have.
func (e *explored) copiesOn(d *Disk) (err, bad error) {
	for _, c := range e.copies {
		st, err := e.subject.Open(d, c.dir, marks(e.x.report.Coverage))
		if err != nil {
			return fmt.Errorf("the copy %s: %w", c.dir, err), nil
		}
		var sc scanner
		found, err := sc.scan(st)
		if err == nil {
			equal := slices.EqualFunc(found, c.content, func(a, b record) bool {
				return string(a.key) == string(b.key) && same(a.value, b.value)
			})
			if !equal {
				bad = fmt.Errorf("the copy %s has %d keys, want %d with what was copied", c.dir, len(found), len(c.content))
			}
		}
		if e := st.Close(); err == nil {
			err = e
		}
		if err != nil || bad != nil {
			return err, bad
		}
	}
	return nil, nil
}

// tornMax is the number of the last writes that are torn at each moment. Each write was
// once the last one.
const tornMax = 8

// deeper continues from a recovered state with a few operations, and explores
// the crashes of that.
func (e *explored) deeper(s *session, found []record, path []Step, sum uint64) {
	p := e.x.o.Profile
	p.Ops, p.Name = 2+int(sum>>32%6), "deeper"
	p.Weights[Sync] += 10
	p.Weights[Flush] += 4
	p.Weights[Checkpoint] = 0
	next := newSession(s.subject, s.tracer, s.disk, newHistory(s.h.keys, s.h.last, found))
	next.store, s.store = s.store, nil
	next.made = true
	next.scan = &scanner{}
	next.trail, next.marks = append([]*Op(nil), e.trail...), append([]int(nil), e.marks...)
	l := limits{4, 8, 3}
	if e.depth > 1 {
		l = limits{2, 4, 2}
	}
	d := e.x.explored(next, e.depth+1, path, l, mix(sum, uint64(e.depth)))
	defer next.abandon()
	d.run(p.Generate(mix(sum, e.random)))
	e.x.report.Reads += next.reads
}

// ended reports whether the exploration is finished.
func (x *explorer) ended() bool { return x.failure != nil || x.over }

func (x *explorer) fail(f *Failure) {
	if x.failure == nil {
		x.failure = f
	}
}
