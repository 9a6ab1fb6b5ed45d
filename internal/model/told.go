package model

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// common are the registers that every worker sees: those that assumptions and
// the initial predicate set, for a worker's own go before them.
type common struct {
	mu        sync.RWMutex
	registers map[string]value.Value
	// first is the run that evaluated the assumptions, whose registers the
	// postcondition sees.
	first *run
	// runs are those of workers, in the order in which they began.
	runs []*run
}

func (c *common) get(name string) (value.Value, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.registers[name]
	return v, ok
}

func (c *common) set(name string, v value.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.registers == nil {
		c.registers = make(map[string]value.Value)
	}
	c.registers[name] = v
}

// begin says that r evaluates the assumptions.
func (c *common) begin(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = r
}

// last has r see what the first run has in its registers. No worker may be
// evaluating.
func (c *common) last(r *run) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r.over = true
	if c.first != nil {
		maps.Copy(r.registers, c.first.registers)
	}
}

// join has r be one of the runs that are asked for all registers.
func (c *common) join(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.runs) < allRunsMax && !slices.Contains(c.runs, r) {
		c.runs = append(c.runs, r)
	}
}

// allRunsMax bounds how many runs are asked for all registers.
const allRunsMax = 1024

// all are the values of the registers with a number in each of the workers.
func (r *run) all() value.Value {
	if !r.over {
		value.Fail(`TLCGet("all"): other workers may be evaluating; it has a value in a postcondition only`)
	}
	c := &r.p.common
	c.mu.RLock()
	defer c.mu.RUnlock()
	// A worker that had nothing to do has what is common.
	workers := min(max(1, r.p.options.Configuration.Workers), allRunsMax)
	var runs []map[string]value.Value
	for i := range workers {
		var own map[string]value.Value
		if i < len(c.runs) {
			own = c.runs[i].registers
		}
		runs = append(runs, own)
	}
	numbers := map[int]bool{}
	for _, registers := range append(runs[:workers:workers], c.registers) {
		for name := range registers {
			if n, err := strconv.Atoi(name); err == nil {
				numbers[n] = true
			}
		}
	}
	var pairs []value.Pair
	for _, n := range slices.Sorted(maps.Keys(numbers)) {
		var vals []value.Value
		for i, w := range runs {
			v, ok := w[strconv.Itoa(n)]
			if !ok {
				v, ok = c.registers[strconv.Itoa(n)]
			}
			if !ok {
				value.Fail(`TLCGet("all"): worker %d has no value for register %d; set it in an assumption first`, i+1, n)
			}
			vals = append(vals, v)
		}
		pairs = append(pairs, value.Pair{Key: value.Int(int32(n)), Val: value.TupleOf(vals)})
	}
	return value.Fn(pairs)
}

// The names of TLCGet that stand for records have those fields of TLC's that mean
// something here.
const (
	// told as the revision, for specifications that ask for a TLC that is not too
	// old: the one whose behaviour is meant, and when it was.
	revisionTag       = "ashlar"
	revisionDate      = "2026-04-29"
	revisionTimestamp = 1_777_420_800
	// notSet is a figure of the configuration that the mode does not have.
	notSet = -1
)

// told is a property of the run with a name.
func (r *run) told(name string) (value.Value, bool) {
	switch name {
	case "level":
		return value.Int(int32(r.level)), true
	case "config":
		return r.p.options.Configuration.record(), true
	case "revision":
		return record("count", value.Int(0), "date", value.String(revisionDate), "tag", value.String(revisionTag),
			"timestamp", value.Int(revisionTimestamp)), true
	case "action":
		return r.toldAction()
	case "all":
		return r.all(), true
	case "spec":
		if r.p.parts == nil {
			return value.Value{}, false
		}
		return r.p.parts(), true
	}
	if r.p.options.Progress == nil {
		return value.Value{}, false
	}
	now := r.p.options.Progress()
	figures := []struct {
		name string
		n    int64
	}{
		{"diameter", int64(now.Diameter)}, {"distinct", now.Distinct}, {"duration", now.DurationSeconds},
		{"generated", now.Generated}, {"queue", now.Queue}, {"traces", now.Walks},
	}
	var fields []any
	for _, f := range figures {
		v := value.Int(int32(min(f.n, 1<<31-1)))
		if f.name == name {
			return v, true
		}
		if f.name != "traces" || r.p.options.Configuration.Mode == ModeSimulate {
			fields = append(fields, f.name, v)
		}
	}
	if name == "stats" {
		return record(fields...), true
	}
	return value.Value{}, false
}

// toldAction is the action that made the candidate.
func (r *run) toldAction() (value.Value, bool) {
	if r.action == 0 || r.p.actions == nil {
		return value.Value{}, false
	}
	name, place := "Initial predicate", ""
	if i := r.action - 2; i >= 0 {
		a := r.p.actions()[i]
		name, place = a.Name, a.Place
	}
	return record("location", value.String(place), "name", value.String(name)), true
}

// record is that of names and values, in turn.
func record(pairs ...any) value.Value {
	fields := make([]value.Field, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, value.Field{Name: pairs[i].(string), Val: pairs[i+1].(value.Value)})
	}
	return value.Record(fields)
}

func (c Configuration) record() value.Value {
	mode, depth, walks := c.Mode, int32(notSet), int32(notSet)
	if mode == "" {
		mode = ModeSearch
	}
	if mode == ModeSimulate {
		depth, walks = int32(min(c.Depth, 1<<31-1)), int32(min(c.Walks, 1<<31-1))
	}
	return record("deadlock", value.Bool(c.Deadlock), "depth", value.Int(depth), "mode", value.String(mode),
		"seed", value.String(strconv.FormatUint(c.Seed, 10)), "traces", value.Int(walks), "worker", value.Int(int32(c.Workers)))
}
