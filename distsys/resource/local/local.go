// Package local has the resources that stay inside one process of the
// operating system: variables of one instance, variables that instances
// share, constants, and maps from indices to resources.
//
// In: values. Out: distsys.Resource. A Shared is serializable: what a section
// has read does not change before it ends, and no section waits while it holds
// something, so that there are no deadlocks. Nothing here survives the end of
// the process.
//
// Source: PGo (ASPLOS 2023), section 4.2.1.
package local

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Variable is a resource of one instance. Indices go into the value: reading
// x[i] applies it, writing replaces the part.
type Variable struct {
	cur, work value.Value
	dirty     bool
}

var _ distsys.Resource = (*Variable)(nil)

// NewVariable returns a variable with that value.
func NewVariable(v value.Value) *Variable { return &Variable{cur: v} }

// Value is the committed value. It is for the instance's own goroutine.
func (x *Variable) Value() value.Value { return x.cur }

func (x *Variable) now() value.Value {
	if x.dirty {
		return x.work
	}
	return x.cur
}

// Read is the Resource's.
func (x *Variable) Read(_ *distsys.Tx, idx []value.Value) (value.Value, error) {
	return part(x.now(), idx), nil
}

// Write is the Resource's.
func (x *Variable) Write(_ *distsys.Tx, idx []value.Value, v value.Value) error {
	x.work, x.dirty = replace(x.now(), idx, v), true
	return nil
}

// PreCommit is the Resource's.
func (x *Variable) PreCommit(*distsys.Tx) error { return nil }

// Commit is the Resource's.
func (x *Variable) Commit(*distsys.Tx) {
	if x.dirty {
		x.cur = x.work
		x.Abort(nil)
	}
}

// Abort is the Resource's.
func (x *Variable) Abort(*distsys.Tx) { x.work, x.dirty = value.Value{}, false }

func part(v value.Value, idx []value.Value) value.Value {
	for _, i := range idx {
		v = v.Apply(i)
	}
	return v
}

func replace(v value.Value, idx []value.Value, x value.Value) value.Value {
	if len(idx) == 0 {
		return x
	}
	return v.Except(idx, x)
}

// Constant is a resource that is read only.
type Constant struct{ v value.Value }

var _ distsys.Resource = (*Constant)(nil)

// NewConstant returns a resource that always reads as v.
func NewConstant(v value.Value) *Constant { return &Constant{v} }

// Read is the Resource's.
func (c *Constant) Read(_ *distsys.Tx, idx []value.Value) (value.Value, error) {
	return part(c.v, idx), nil
}

// Write ends the run: the configuration gives a constant where the
// specification assigns.
func (c *Constant) Write(*distsys.Tx, []value.Value, value.Value) error {
	return fmt.Errorf("a constant resource is written to")
}

// PreCommit is the Resource's.
func (c *Constant) PreCommit(*distsys.Tx) error { return nil }

// Commit is the Resource's.
func (c *Constant) Commit(*distsys.Tx) {}

// Abort is the Resource's.
func (c *Constant) Abort(*distsys.Tx) {}

// Dummy is a resource that always reads as the same value and takes every
// write without effect: for a parameter that a system does without.
type Dummy struct{ Constant }

var _ distsys.Resource = (*Dummy)(nil)

// NewDummy returns a resource that always reads as v.
func NewDummy(v value.Value) *Dummy { return &Dummy{Constant{v}} }

// Write has no effect.
func (d *Dummy) Write(*distsys.Tx, []value.Value, value.Value) error { return nil }
