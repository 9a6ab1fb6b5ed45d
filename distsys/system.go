// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Process is an Instance of any archetype, for code that runs several.
type Process interface {
	// Name is the archetype and self, as in "AServer(1)".
	Name() string
	Step() Status
	Run(ctx context.Context) error
	Stop()
	Close() error
	Metrics() Metrics
}

// System is the description that generated code provides of itself. It connects
// a compiled specification with a configuration.
type System struct {
	Name       string // the module's
	Archetypes []Template
}

// Param describes a parameter of an archetype.
type Param struct {
	Name string
	Ref  bool
	// Indices is the number of [_] after a ref parameter.
	Indices int
	// Relaxed reports that relaxed mailboxes are sound for this parameter: in
	// every section, nothing can fail or block after a write to it, and no
	// section writes it twice. If they are not sound, NotRelaxed is the reason.
	Relaxed    bool
	NotRelaxed string
	// Lossy reports that the mapping macro of this parameter may lose, repeat and
	// reorder messages: lossy mailboxes are sound for it.
	Lossy bool
	// Crash describes what a crash of the process does to the resource behind a
	// ref parameter, for an archetype that survives crashes.
	Crash Loss
}

// Loss describes the effect of a process's crash on a resource, in the
// specification.
type Loss uint8

const (
	// Keeps: nothing is lost.
	Keeps Loss = iota
	// Starts: the resource returns to its value at the start of the process.
	Starts
	// Clears: messages that the process has not read are lost.
	Clears
)

// Template makes instances of an archetype.
type Template struct {
	Name   string
	Params []Param
	// Crashes reports that instances survive crashes and so need a journal.
	Crashes bool
	// New makes an instance. Callers use Spawn instead, which checks the
	// arguments.
	New func(s Spawn) (Process, error)
}

// Spawn holds the arguments from which a Template makes an instance.
type Spawn struct {
	Self    value.Value
	Values  map[string]value.Value // of the value parameters
	Refs    map[string]Resource    // of the ref parameters
	Options Options
}

// Ref returns the named ref parameter with its resource.
func (s Spawn) Ref(name string) Ref { return NewRef(name, s.Refs[name]) }

// Spawn makes an instance after checking that s provides exactly the
// archetype's parameters.
func (t Template) Spawn(s Spawn) (Process, error) {
	var wrong []string
	known := map[string]bool{}
	for _, p := range t.Params {
		known[p.Name] = true
		_, v := s.Values[p.Name]
		_, r := s.Refs[p.Name]
		switch {
		case p.Ref && !r:
			wrong = append(wrong, "parameter "+p.Name+" needs a resource")
		case !p.Ref && !v:
			wrong = append(wrong, "parameter "+p.Name+" needs a value")
		case v && r:
			wrong = append(wrong, "parameter "+p.Name+" is given both a value and a resource")
		}
	}
	for _, name := range append(sortedKeys(s.Values), sortedKeys(s.Refs)...) {
		if !known[name] {
			wrong = append(wrong, "there is no parameter "+name)
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("archetype %s: %s", t.Name, strings.Join(wrong, "; "))
	}
	return t.New(s)
}

// Template returns the archetype of that name.
func (s *System) Template(name string) (Template, error) {
	var names []string
	for _, t := range s.Archetypes {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Template{}, fmt.Errorf("system %s has no archetype %s; it has %s", s.Name, name, strings.Join(names, ", "))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
