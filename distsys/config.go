// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// ConfigMax is the length of the largest configuration, in bytes.
const ConfigMax = 4 << 20

// Config describes the deployment of a compiled system: the values of its
// constants, which node runs which instances, and which resources their ref
// parameters refer to. All nodes of a system share one file:
//
//	{
//	  "system": "lockservice",
//	  "constants": {"NumClients": "1"},
//	  "resources": {
//	    "network": {"kind": "mailboxes", "mode": "relaxed", "at": [
//	      {"node": "server", "address": "127.0.0.1:7100", "indices": ["0"]},
//	      {"node": "client", "address": "127.0.0.1:7101", "indices": ["1"]}]}
//	  },
//	  "nodes": {
//	    "server": [{"archetype": "AServer", "self": "0", "refs": {"network": "network"}}],
//	    "client": [{"archetype": "AClient", "self": "1", "refs": {"network": "network"}}]
//	  }
//	}
//
// Values are written as TLA+ text.
type Config struct {
	// System is the name of the running system; only nodes with the same name
	// communicate.
	System    string              `json:"system"`
	Constants map[string]Text     `json:"constants,omitempty"`
	Resources map[string]Supply   `json:"resources,omitempty"`
	Nodes     map[string][]Member `json:"nodes"`
	// TrustNetwork allows mailboxes and monitors to listen on addresses other
	// than loopback even though peers are not authenticated.
	TrustNetwork bool `json:"trustNetwork,omitempty"`
}

// Member is an instance on a node.
type Member struct {
	Archetype string            `json:"archetype"`
	Self      Text              `json:"self"`
	Values    map[string]Text   `json:"values,omitempty"` // of value parameters
	Refs      map[string]string `json:"refs,omitempty"`   // of ref parameters: names of resources
}

// The kinds of a Supply.
const (
	// KindMailboxes are mailboxes, one for each index: Mode, Capacity, Window,
	// Distinct, At.
	KindMailboxes = "mailboxes"
	// KindLengths are the lengths of the mailboxes Of.
	KindLengths = "lengths"
	// KindDetector is a failure detector for the processes At, and the
	// monitors for it: Interval, Timeout.
	KindDetector = "detector"
	// KindTimer reads TRUE when After has passed, and a time below Spread more,
	// drawn at every start. Each instance has its own, unless it is OfNode.
	KindTimer = "timer"
	// KindShared is a variable of the node with the initial Value.
	KindShared = "shared"
	// KindVariable is a variable of each instance with the initial Value.
	KindVariable = "variable"
	// KindConstant always reads as Value.
	KindConstant = "constant"
	// KindDummy is like KindConstant, but writes are allowed and have no
	// effect.
	KindDummy = "dummy"
	// KindQueue is a queue of the node: Capacity, Distinct.
	KindQueue = "queue"
	// KindCounter is a counter that only grows, with a replica on each node, for the
	// processes At: Interval.
	KindCounter = "counter"
	// KindEach makes a separate resource, described by Like, for each index.
	KindEach = "each"
)

// Supply describes a resource. Kind determines which other fields must be
// present.
type Supply struct {
	Kind     string `json:"kind"`
	Mode     string `json:"mode,omitempty"` // "strict", "relaxed" or "lossy"
	Capacity int    `json:"capacity,omitempty"`
	Window   int    `json:"window,omitempty"`
	// Distinct makes mailboxes and queues behave as sets: they hold each message
	// at most once.
	Distinct bool     `json:"distinct,omitempty"`
	Of       string   `json:"of,omitempty"`
	Interval Duration `json:"interval,omitempty"`
	Timeout  Duration `json:"timeout,omitempty"`
	After    Duration `json:"after,omitempty"`
	Spread   Duration `json:"spread,omitempty"`
	// OfNode makes a timer one that all instances on a node share.
	OfNode bool    `json:"ofNode,omitempty"`
	Value  Text    `json:"value,omitzero"`
	At     []Site  `json:"at,omitempty"`
	Like   *Supply `json:"like,omitempty"`
}

// Site states which indices of a resource are on which node, and the address at
// which the node listens for it.
type Site struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	// Listen is the address to listen at if it differs from Address.
	Listen  string `json:"listen,omitempty"`
	Indices []Text `json:"indices"`
}

// The modes of mailboxes.
const (
	ModeStrict  = "strict"
	ModeRelaxed = "relaxed"
	ModeLossy   = "lossy"
)

// Text is a value as TLA+ text.
type Text struct {
	Value value.Value
	set   bool
}

// IsZero reports whether no value is given.
func (t Text) IsZero() bool { return !t.set }

// UnmarshalJSON reads a string that holds a TLA+ value. Numbers and booleans
// may also be given as JSON numbers and booleans.
func (t *Text) UnmarshalJSON(b []byte) error {
	text := string(b)
	switch {
	case text == "true" || text == "false":
		text = strings.ToUpper(text)
	case len(b) > 0 && b[0] == '"':
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
	default:
		return fmt.Errorf("%s: want a TLA+ value in a string", b)
	}
	v, err := value.Parse(text)
	if err != nil {
		return fmt.Errorf("%q is not a TLA+ value: %w", text, err)
	}
	t.Value, t.set = v, true
	return nil
}

// MarshalJSON writes the text.
func (t Text) MarshalJSON() ([]byte, error) {
	if !t.set {
		return []byte("null"), nil
	}
	// The calling encoder decides whether to escape << and >>.
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(t.Value.String())
	return out.Bytes(), err
}

// TextOf is the Text of a value.
func TextOf(v value.Value) Text { return Text{v, true} }

// Duration is a time in the notation of Go: "150ms".
type Duration time.Duration

// UnmarshalJSON reads a string.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("%s: want a time such as \"150ms\"", b)
	}
	x, err := time.ParseDuration(text)
	if err != nil || x <= 0 {
		return fmt.Errorf("%q: want a positive time such as \"150ms\"", text)
	}
	*d = Duration(x)
	return nil
}

// MarshalJSON writes the string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// LoadConfig reads a configuration. Its errors give the place in the text or
// the names involved. It finds every error that does not depend on the compiled
// system; Check finds the others.
func LoadConfig(r io.Reader) (*Config, error) {
	data, err := io.ReadAll(io.LimitReader(r, ConfigMax+1))
	if err != nil {
		return nil, err
	}
	if len(data) > ConfigMax {
		return nil, fmt.Errorf("the configuration is longer than %d bytes", ConfigMax)
	}
	c := &Config{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, placed(data, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, placed(data, d.InputOffset(), errors.New("unexpected data after the configuration"))
	}
	return c, c.validate()
}

// placed prefixes an error of encoding/json with its line and column.
func placed(data []byte, at int64, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset - 1 // of the byte that is wrong
	case errors.As(err, &kind):
		at = kind.Offset
		err = fmt.Errorf("%s: want %s, not %s", kind.Field, kind.Type, kind.Value)
	}
	before := data[:min(max(at, 0), int64(len(data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%d:%d: %w", line, column, err)
}

// faults collects the errors of a configuration.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (c *Config) validate() error {
	var f faults
	if c.System == "" {
		f.add(`"system": the name of the system is missing`)
	}
	if len(c.Nodes) == 0 {
		f.add(`"nodes": want at least one node`)
	}
	for _, name := range sortedKeys(c.Resources) {
		s := c.Resources[name]
		c.checkSupply(&f, "resource "+name, &s)
	}
	seen := map[string]string{}
	for _, node := range sortedKeys(c.Nodes) {
		for i, p := range c.Nodes[node] {
			at := fmt.Sprintf("node %s, process %d", node, i+1)
			if p.Archetype == "" || p.Self.IsZero() {
				f.add("%s: archetype or self is missing", at)
				continue
			}
			id := p.Archetype + "(" + p.Self.Value.String() + ")"
			if other, twice := seen[id]; twice {
				f.add("%s: %s runs on node %s already", at, id, other)
			}
			seen[id] = node
			for _, param := range sortedKeys(p.Refs) {
				if _, ok := c.Resources[p.Refs[param]]; !ok {
					f.add("%s: parameter %s: there is no resource %q; there are %s", at, param, p.Refs[param], list(sortedKeys(c.Resources)))
				}
			}
		}
	}
	return errors.Join(f...)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// checkSupply checks that a resource has the fields of its kind and no others.
func (c *Config) checkSupply(f *faults, at string, s *Supply) {
	needs := map[string][]string{
		KindMailboxes: {"at"}, KindLengths: {"of"}, KindDetector: {"at"}, KindTimer: {"after"}, KindShared: {"value"},
		KindVariable: {"value"}, KindConstant: {"value"}, KindDummy: {"value"}, KindQueue: {}, KindCounter: {"at"}, KindEach: {"like"},
	}
	may := map[string][]string{
		KindMailboxes: {"mode", "capacity", "window", "distinct"}, KindDetector: {"interval", "timeout"}, KindQueue: {"capacity", "distinct"},
		KindTimer: {"spread", "ofNode"}, KindCounter: {"interval"},
	}
	need, known := needs[s.Kind]
	if !known {
		f.add("%s: kind %q: want one of %s", at, s.Kind, strings.Join(sortedKeys(needs), ", "))
		return
	}
	given := s.given()
	for _, field := range need {
		if !given[field] {
			f.add("%s: a resource of kind %q needs %q", at, s.Kind, field)
		}
		delete(given, field)
	}
	for _, field := range may[s.Kind] {
		delete(given, field)
	}
	for _, field := range sortedKeys(given) {
		if given[field] {
			f.add("%s: a resource of kind %q has no %q", at, s.Kind, field)
		}
	}
	if s.Mode != "" && s.Mode != ModeStrict && s.Mode != ModeRelaxed && s.Mode != ModeLossy {
		f.add("%s: mode %q: want %q, %q or %q", at, s.Mode, ModeStrict, ModeRelaxed, ModeLossy)
	}
	if s.Mode == ModeRelaxed && s.Distinct {
		f.add("%s: relaxed mailboxes cannot be distinct: a message may be sent while an equal one is queued and arrive after that one was read; use mode %q", at, ModeStrict)
	}
	if s.Capacity < 0 || s.Window < 0 {
		f.add("%s: capacity and window must be positive", at)
	}
	if s.Of != "" && c.Resources[s.Of].Kind != KindMailboxes {
		f.add("%s: of: there is no resource %q of kind \"mailboxes\"", at, s.Of)
	}
	if s.Like != nil {
		switch s.Like.Kind {
		case KindTimer, KindShared, KindVariable, KindConstant, KindDummy, KindQueue:
			c.checkSupply(f, at+", like", s.Like)
		default:
			f.add("%s: like: there cannot be one resource of kind %q for each index", at, s.Like.Kind)
		}
	}
	c.checkSites(f, at, s.At)
}

// given returns which of the fields that depend on the kind are present.
func (s *Supply) given() map[string]bool {
	return map[string]bool{
		"mode": s.Mode != "", "capacity": s.Capacity != 0, "window": s.Window != 0, "distinct": s.Distinct, "of": s.Of != "", "interval": s.Interval != 0,
		"timeout": s.Timeout != 0, "after": s.After != 0, "spread": s.Spread != 0, "ofNode": s.OfNode, "value": !s.Value.IsZero(), "at": len(s.At) > 0, "like": s.Like != nil,
	}
}

func (c *Config) checkSites(f *faults, at string, sites []Site) {
	indices, nodes := map[string]string{}, map[string]bool{}
	for _, site := range sites {
		if _, ok := c.Nodes[site.Node]; !ok {
			f.add("%s: there is no node %q; there are %s", at, site.Node, list(sortedKeys(c.Nodes)))
		}
		if nodes[site.Node] {
			f.add("%s: node %q is given twice", at, site.Node)
		}
		nodes[site.Node] = true
		if site.Address == "" {
			f.add("%s: the address of node %q is missing", at, site.Node)
		}
		if len(site.Indices) == 0 {
			f.add("%s: node %q has no indices", at, site.Node)
		}
		for _, i := range site.Indices {
			text := i.Value.String()
			if other, twice := indices[text]; twice {
				f.add("%s: index %s is on both %q and %q", at, text, other, site.Node)
			}
			indices[text] = site.Node
		}
	}
}

// Check checks the configuration against a compiled system: archetypes,
// parameters, and that relaxed mailboxes are used only where they are sound.
func (c *Config) Check(sys *System) error {
	var f faults
	lossy := c.lossy(sys)
	for _, node := range sortedKeys(c.Nodes) {
		for i, p := range c.Nodes[node] {
			at := fmt.Sprintf("node %s, process %d", node, i+1)
			t, err := sys.Template(p.Archetype)
			if err != nil {
				f.add("%s: %w", at, err)
				continue
			}
			c.checkMember(&f, at, p, t)
			for _, param := range sortedKeys(p.Refs) {
				if s := c.Resources[p.Refs[param]]; s.Kind == KindLengths && lossy[s.Of] {
					f.add("%s: %s: parameter %s: the lengths of mailboxes %s cannot be used: a process that crashes uses these mailboxes, and in the specification messages lost in a crash still count", at, t.Name, param, s.Of)
				}
			}
			if first, err := sys.Template(c.Nodes[node][0].Archetype); err == nil && first.Crashes != t.Crashes {
				f.add("%s: %s cannot share a node with %s: a crash of the node crashes both, but in the specification one of them never crashes", at, t.Name, first.Name)
			}
		}
	}
	return errors.Join(f...)
}

// lossy returns the mailboxes that may lose messages because a process that
// crashes sends to them or reads from them.
func (c *Config) lossy(sys *System) map[string]bool {
	out := map[string]bool{}
	for _, members := range c.Nodes {
		for _, p := range members {
			if t, err := sys.Template(p.Archetype); err != nil || !t.Crashes {
				continue
			}
			for _, name := range p.Refs {
				out[name] = c.Resources[name].Kind == KindMailboxes
			}
		}
	}
	return out
}

func (c *Config) checkMember(f *faults, at string, p Member, t Template) {
	refs, values := map[string]bool{}, map[string]bool{}
	if t.Crashes {
		defer c.checkLosses(f, at, p, t)
	}
	for _, param := range t.Params {
		if !param.Ref {
			values[param.Name] = true
			if p.Values[param.Name].IsZero() {
				f.add("%s: %s: the value of parameter %s is missing", at, t.Name, param.Name)
			}
			continue
		}
		refs[param.Name] = true
		name, ok := p.Refs[param.Name]
		if !ok {
			f.add("%s: %s: the resource of parameter %s is missing", at, t.Name, param.Name)
			continue
		}
		s := c.Resources[name]
		if s.Kind == KindMailboxes && s.Mode == ModeRelaxed && !param.Relaxed {
			f.add("%s: %s: relaxed mailboxes are not sound for parameter %s: %s", at, t.Name, param.Name, param.NotRelaxed)
		}
		if s.Kind == KindMailboxes && s.Mode == ModeLossy && !param.Lossy {
			f.add("%s: %s: lossy mailboxes are not sound for parameter %s: its mapping macro is not LossyMailbox of module AshlarResources, so the specification loses and repeats nothing there", at, t.Name, param.Name)
		}
	}
	for _, name := range sortedKeys(p.Refs) {
		if !refs[name] {
			f.add("%s: %s has no ref parameter %s; it has %s", at, t.Name, name, list(sortedKeys(refs)))
		}
	}
	for _, name := range sortedKeys(p.Values) {
		if !values[name] {
			f.add("%s: %s has no value parameter %s; it has %s", at, t.Name, name, list(sortedKeys(values)))
		}
	}
}

// checkLosses checks that the loss that the specification assigns to each resource
// of an instance is the loss that a crash of the node causes.
func (c *Config) checkLosses(f *faults, at string, p Member, t Template) {
	for _, param := range t.Params {
		s, ok := c.Resources[p.Refs[param.Name]]
		if !ok || !param.Ref {
			continue
		}
		kind, each := s.Kind, ""
		if kind == KindEach {
			kind, each = s.Like.Kind, " of each"
		}
		wrong := ""
		switch kind {
		case KindMailboxes:
			if param.Crash == Starts {
				wrong = "starts again with its first value"
			}
			if param.Crash == Clears && s.Mode == ModeRelaxed {
				wrong = "loses no later message; relaxed mailboxes may lose one and still deliver those sent after it"
			}
		case KindVariable:
			if param.Crash != Starts {
				wrong = "does not start again with its first value; a resource of kind \"shared\" is durable"
			}
		case KindShared:
			if param.Crash != Keeps || each != "" {
				wrong = "is not one variable that keeps its value"
			}
		case KindCounter:
			wrong = "keeps what was added; a counter is in memory"
		case KindQueue:
			if param.Crash != Clears {
				wrong = "does not lose what has not been read"
			}
		}
		if wrong != "" {
			f.add("%s: %s: resource %s of kind %q%s does not suit parameter %s: after a crash, what the specification has for it %s",
				at, t.Name, p.Refs[param.Name], kind, each, param.Name, wrong)
		}
	}
}

// Survives reports whether instances on a node survive crashes. If so, the node
// needs a journal.
func (c *Config) Survives(sys *System, node string) bool {
	for _, p := range c.Nodes[node] {
		if t, err := sys.Template(p.Archetype); err == nil && t.Crashes {
			return true
		}
	}
	return false
}

// ConstantValues are the values of the constants.
func (c *Config) ConstantValues() map[string]value.Value {
	out := make(map[string]value.Value, len(c.Constants))
	for name, t := range c.Constants {
		out[name] = t.Value
	}
	return out
}

// NodeNames are the names of the nodes, sorted.
func (c *Config) NodeNames() []string {
	names := sortedKeys(c.Nodes)
	sort.Strings(names)
	return names
}
