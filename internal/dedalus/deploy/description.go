// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Schema is the first field of a Description as JSON.
const Schema = "ashlar-dedalus-deployment-1"

// Limits of a Description that is read.
const (
	ProcessesMax = 4096
	BytesMax     = 16 << 20
	NameMax      = 255
)

// Description describes a deployment: what each process must know of the
// others.
type Description struct {
	Schema  string `json:"schema"`
	Program string `json:"program"`
	// Components are listed in the order of the program.
	Components []Component `json:"components"`
	// Processes are ordered by component, then by id.
	Processes []Process `json:"processes"`
	// Static are facts of static relations that the program leaves to the deployment:
	// numbers, truth values, strings, and lists for sets.
	Static map[string][][]any `json:"static,omitempty"`
}

// Component is a component of the program.
type Component struct {
	Name string `json:"name"`
	// Of is the component of the program as it was written that this is a piece of.
	Of         string `json:"of"`
	Instances  int    `json:"instances"`
	Partitions int    `json:"partitions"`
	// Durable: it keeps something on the disk. Carries: it keeps something from tick to
	// tick, so that it may not come back alone where it is a piece.
	Durable bool `json:"durable,omitempty"`
	Carries bool `json:"carries,omitempty"`
	// Inputs and Outputs are the relations by which clients have to do with it.
	Inputs  []string `json:"inputs,omitempty"`
	Outputs []string `json:"outputs,omitempty"`
}

// Process is an instance.
type Process struct {
	// Node is where messages to it go, Self the logical node that it stands for.
	Node      string `json:"node"`
	Self      string `json:"self"`
	Component string `json:"component"`
	// ID is its number in the component, Partition that among those of its logical node.
	ID        int `json:"id"`
	Partition int `json:"partition"`
	// Addr is where it listens, HOST:PORT; Status where it shows how it is, or nothing.
	Addr   string `json:"addr"`
	Status string `json:"status,omitempty"`
}

// New describes a program's processes without addresses.
func New(p *logic.Program) *Description {
	d := &Description{Schema: Schema, Program: p.Name}
	for _, c := range p.Components {
		k := Component{Name: c.Name, Of: c.Of, Instances: c.Instances, Partitions: c.Partitions}
		for _, r := range c.Rules {
			k.Carries = k.Carries || r.Kind == logic.Next
			k.Durable = k.Durable || r.Kind == logic.Next && r.Head.Relation.Durable
			if r.Kind == logic.Async && r.Head.Relation.Kind == logic.Output && !slices.Contains(k.Outputs, r.Head.Relation.Name) {
				k.Outputs = append(k.Outputs, r.Head.Relation.Name)
			}
		}
		for _, r := range p.Refs(c) {
			if r.Kind == logic.Input {
				k.Inputs = append(k.Inputs, r.Name)
			}
		}
		d.Components = append(d.Components, k)
		for i := range c.Instances * c.Partitions {
			d.Processes = append(d.Processes, Process{Node: logic.NodeName(c.Name, i), Self: logic.NodeName(c.Of, i/c.Partitions),
				Component: c.Name, ID: i, Partition: i % c.Partitions})
		}
	}
	return d
}

// Place gives the processes addresses: on these hosts in turn, from a port on; with
// status, each has a second port. Ports of one host are counted up.
func (d *Description) Place(hosts []string, port int, status bool) error {
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1"}
	}
	next := map[string]int{}
	take := func(host string) (string, error) {
		n := port + next[host]
		next[host]++
		if n < 1 || n > 65535 {
			return "", fmt.Errorf("port %d; want 1 to 65535", n)
		}
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return host + ":" + strconv.Itoa(n), nil
	}
	for i := range d.Processes {
		p, host := &d.Processes[i], hosts[i%len(hosts)]
		var err error
		if p.Addr, err = take(host); err != nil {
			return err
		}
		if status {
			if p.Status, err = take(host); err != nil {
				return err
			}
		}
	}
	return nil
}

// Component returns the component of that name, or nil.
func (d *Description) Component(name string) *Component {
	for i := range d.Components {
		if d.Components[i].Name == name {
			return &d.Components[i]
		}
	}
	return nil
}

// Process returns the process of that node, or nil.
func (d *Description) Process(node string) *Process {
	for i := range d.Processes {
		if d.Processes[i].Node == node {
			return &d.Processes[i]
		}
	}
	return nil
}

// Pieces returns the nodes of the other pieces of a process's logical node.
func (d *Description) Pieces(p *Process) []string {
	var out []string
	for i := range d.Processes {
		if q := &d.Processes[i]; q.Self == p.Self && q.Node != p.Node {
			out = append(out, q.Node)
		}
	}
	return out
}

// Keeps reports whether a process needs a place on a disk that outlives it: something is
// durable, or it is a piece that may not come back alone.
func (d *Description) Keeps(p *Process) bool {
	c := d.Component(p.Component)
	return c.Durable || c.Carries && len(d.Pieces(p)) > 0
}

// Append appends the Description to b, as JSON.
func (d *Description) Append(b []byte) ([]byte, error) {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(append(b, text...), '\n'), nil
}

// Read decodes and validates a Description.
func Read(text []byte) (*Description, error) {
	if len(text) > BytesMax {
		return nil, fmt.Errorf("the deployment has %d bytes; the limit is %d", len(text), BytesMax)
	}
	var d Description
	j := json.NewDecoder(bytes.NewReader(text))
	j.DisallowUnknownFields()
	j.UseNumber()
	if err := j.Decode(&d); err != nil {
		return nil, fmt.Errorf("deployment: %w", err)
	}
	if j.More() {
		return nil, errors.New("deployment: there is text after the JSON document")
	}
	if err := d.Validate(); err != nil {
		return nil, fmt.Errorf("deployment: %w", err)
	}
	return &d, nil
}

// Validate returns an error that states what is wrong with a Description, or
// nil.
func (d *Description) Validate() error {
	if d.Schema != Schema {
		return fmt.Errorf("schema %q; want %q", d.Schema, Schema)
	}
	want := 0
	names := map[string]bool{}
	for _, c := range d.Components {
		switch {
		case c.Name == "" || len(c.Name) > NameMax || strings.Contains(c.Name, "/"):
			return fmt.Errorf("%q is not a valid component name", c.Name)
		case names[c.Name]:
			return fmt.Errorf("component %s is listed twice", c.Name)
		case c.Instances < 1 || c.Partitions < 1 || c.Instances > ProcessesMax || c.Partitions > ProcessesMax:
			return fmt.Errorf("component %s has %d instances of %d partitions; want 1 to %d of each", c.Name, c.Instances, c.Partitions, ProcessesMax)
		}
		names[c.Name] = true
		want += c.Instances * c.Partitions
	}
	if want != len(d.Processes) || want > ProcessesMax {
		return fmt.Errorf("the deployment lists %d processes; the components need %d, and the limit is %d", len(d.Processes), want, ProcessesMax)
	}
	nodes, addrs := map[string]bool{}, map[string]string{}
	for i := range d.Processes {
		if err := d.validate(&d.Processes[i], nodes, addrs); err != nil {
			return err
		}
	}
	return nil
}

func (d *Description) validate(p *Process, nodes map[string]bool, addrs map[string]string) error {
	c := d.Component(p.Component)
	if c == nil {
		return fmt.Errorf("process %s belongs to component %q, which the deployment does not list", p.Node, p.Component)
	}
	if p.ID < 0 || p.ID >= c.Instances*c.Partitions || p.Partition != p.ID%c.Partitions || nodes[p.Node] ||
		p.Node != logic.NodeName(c.Name, p.ID) || p.Self != logic.NodeName(c.Of, p.ID/c.Partitions) {
		return fmt.Errorf("process %s is inconsistent: want node %s, self %s, id below %d and partition id%%%d, each node once", p.Node,
			logic.NodeName(c.Name, p.ID), logic.NodeName(c.Of, p.ID/max(c.Partitions, 1)), c.Instances*c.Partitions, c.Partitions)
	}
	nodes[p.Node] = true
	for i, addr := range []string{p.Addr, p.Status} {
		if i == 1 && addr == "" {
			continue // it shows nothing
		}
		if !hostPort(addr) {
			return fmt.Errorf("process %s: address %q; want HOST:PORT", p.Node, addr)
		}
		if other := addrs[addr]; other != "" {
			return fmt.Errorf("processes %s and %s have the same address, %s", other, p.Node, addr)
		}
		addrs[addr] = p.Node
	}
	return nil
}

// hostPort reports whether an address is HOST:PORT. A host that has colons is in
// brackets.
func hostPort(addr string) bool {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return false
	}
	host := addr[:i]
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		host = strings.ReplaceAll(inner, ":", "")
		if !ok {
			return false
		}
	}
	port, err := strconv.ParseUint(addr[i+1:], 10, 16)
	return err == nil && port > 0 && host != "" && len(host) <= NameMax && !strings.ContainsAny(host, ":[]/ ")
}
