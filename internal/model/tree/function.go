// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// fn evaluates a function expression. The function's values are computed when
// they are needed, so that it may be recursive and its domain infinite.
func (r *Evaluator) fn(e *core.Fn, n *Env, s State) value.Value {
	domain := r.domain(e, n, s)
	known := memo.NewFunction()
	var f value.Value
	later := r.later()
	f = value.LazyFn(domain, func(x value.Value) value.Value {
		if v, ok := known.Get(x); ok {
			return v
		}
		inner := n
		if e.Self != nil {
			inner = inner.Bind(e.Self, f)
		}
		if len(e.Binds) == 1 {
			inner = bindElement(inner, e.Binds[0], x)
		} else {
			es := x.Elements()
			for i, b := range e.Binds {
				inner = bindElement(inner, b, es[i])
			}
		}
		v := later(func(r *Evaluator) value.Value {
			r.enter()
			v := r.Eval(e.Body, inner, s)
			r.depth--
			return v
		})
		known.Put(x, v)
		return v
	})
	return f
}

// domain returns the domain of a function expression.
func (r *Evaluator) domain(e *core.Fn, n *Env, s State) value.Value {
	if len(e.Binds) == 1 {
		return r.Eval(e.Binds[0].Set, n, s)
	}
	sets := make([]value.Value, len(e.Binds))
	for i, b := range e.Binds {
		sets[i] = r.Eval(b.Set, n, s)
	}
	return value.Times(sets...)
}

// except evaluates [f EXCEPT ...]; each update sees the earlier ones. An update
// whose path leaves a domain changes nothing, and its value is not evaluated.
func (r *Evaluator) except(e *core.Except, n *Env, s State) value.Value {
	f := r.Eval(e.Fn, n, s)
	for _, u := range e.Updates {
		path := make([]value.Value, len(u.Path))
		for i, ix := range u.Path {
			if ix.X == nil {
				path[i] = value.String(ix.Field)
			} else {
				path[i] = r.Eval(ix.X, n, s)
			}
		}
		old, ok := rule.Follow(f, path)
		if !ok {
			continue
		}
		inner := n
		if u.At != nil {
			inner = n.Bind(u.At, old)
		}
		f = f.Except(path, r.Eval(u.Value, inner, s))
	}
	return f
}

// filter returns {x \in s : pred(x)}. A set that is too large to be listed
// becomes a lazy value.
func (r *Evaluator) filter(s value.Value, pred func(*Evaluator, value.Value) bool) value.Value {
	if s.Kind() == value.KindSet && value.IsFinite(s) {
		if v, ok := value.FilterFinite(s, func(x value.Value) bool { return pred(r, x) }); ok {
			return v
		}
	}
	later := r.later()
	return value.LazyFilter(s, func(x value.Value) bool {
		return later(func(r *Evaluator) value.Value { return value.Bool(pred(r, x)) }).IsTrue()
	})
}

// later returns the evaluator for a lazy value. It is r itself, so that r knows
// the position of an error, unless other workers may use the value too.
func (r *Evaluator) later() func(use func(*Evaluator) value.Value) value.Value {
	if !r.shared {
		return func(use func(*Evaluator) value.Value) value.Value { return use(r) }
	}
	p, run, depth := r.p, r.run, r.depth
	var within atomic.Int32
	return func(use func(*Evaluator) value.Value) value.Value {
		deeper := within.Add(1)
		defer within.Add(-1)
		return use(sharedEvaluator(&Evaluator{p: p, run: run, depth: depth + int(deeper)}))
	}
}

// sharedEvaluator makes a reference evaluator of constants that begins at r's
// position.
func sharedEvaluator(r *Evaluator) *Evaluator {
	shared := New(r.p, r.run)
	shared.asker, shared.depth, shared.shared = r.asker, r.depth, true
	return shared
}
