// SPDX-License-Identifier: Apache-2.0

package rewrite

import "github.com/ashlar-dev/ashlar/internal/dedalus/analyze"

// State-machine decoupling: the rest does not depend on the moved part, and the moved
// part does nothing in ticks in which nothing comes in. The rest receives all its
// inputs, including timers and messages, and forwards them in batches: the moved part
// sees the same facts, in the same ticks and order, only later. Its messages leave later,
// which any message may do.

// stateMachine reports whether the program allows a state-machine decoupling.
func stateMachine(w *site) analyze.Verdict {
	v := onward(w)
	and(&v, analyze.StateMachine(w.moved))
	and(&v, volatile(w))
	ends := analyze.Fleeting(w.kept)
	for _, rel := range w.moved.Inputs() {
		if derived(w.kept, rel) && !ends[rel] {
			and(&v, no(nil, rel.Name+" holds forever once it holds, so it would be sent at every tick"))
		}
	}
	if len(w.moved.Inputs()) == 0 {
		and(&v, no(nil, "the rules that move receive nothing"))
	}
	for _, rel := range shared(w) {
		w.cert.Copied = append(w.cert.Copied, rel.Name)
	}
	return v
}

// batch separates the parts, and sends to the moved part in batches all that it reads.
func batch(w *site) {
	in := w.moved.Inputs()
	d := apart(w)
	b := newBatches(w.p, w.step.String(), w.step.Name, d.forward, in, in)
	w.c.Rules = append(w.c.Rules, b.sender(w.step.Name, nil)...)
	for _, c := range b.carried {
		read(d.to.Rules, c.at, c.sealed)
	}
	d.to.Rules = append(d.to.Rules, b.receiver(w.step.Name, false)...)
}
