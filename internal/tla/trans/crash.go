// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// The crashes of processes: a separate action for each process that may crash.
// PlusCal cannot express crashes; only the TLA+ translation has them.

// bound defines the maximum number of crashes, unless the module defines it.
func (m *module) bound() {
	if c := m.a.Crashes; c != nil && c.Declared != nil {
		m.defs = append(m.defs, &definition{Def: c.Declared, text: func() lines { return line(pcal.CrashBound + " == 0") }, compared: true})
	}
}

// crash defines the crash action of a process. The action is not part of the
// process's group of actions, because it must not be subject to fairness.
func (m *module) crash(p *pcal.Process) {
	if p.Crash == nil {
		return
	}
	c, arg := m.processView(p), ""
	var params []*core.Local
	if p.Set {
		params, arg = []*core.Local{c.Name}, "(self)"
	}
	step := c.whole(p.Crash, nil)
	m.labels[p.Crash] = m.compare(p.Crash.Label, params, p.Crash.Span, step.tree(m, p.Crash.Span), func() lines {
		return step.text().after(p.Crash.Label + arg + " == ")
	}).Def
}

// crashOf says that a process, or some process of a set, crashes.
func (m *module) crashOf(p *pcal.Process) (core.Expr, func() string) {
	if p.Set {
		return m.some(p, m.labels[p.Crash], p.Crash.Label)
	}
	return call(m.labels[p.Crash]), func() string { return p.Crash.Label }
}
