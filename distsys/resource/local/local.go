// SPDX-License-Identifier: Apache-2.0

// Package local provides the resources that belong to one process of the
// operating system: variables of one instance, variables that instances share,
// constants, and maps from indices to resources.
//
// In: values. Out: distsys.Resource. A Shared is serializable: a value that a
// section has read does not change before the section ends. No section waits
// while it holds a lock, so there are no deadlocks. Except for a Lasting,
// nothing here survives the end of the process.
//
// Source: PGo (ASPLOS 2023), section 4.2.1.
package local

import (
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/cell"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Variable is a resource of one instance. Indices select a part of the value:
// reading x[i] applies the value to i, and writing x[i] replaces that part.
type Variable struct{ tree *cell.Tree }

var _ distsys.Stored = (*Variable)(nil)

// NewVariable returns a variable with that value.
func NewVariable(v value.Value) *Variable { return &Variable{cell.New(v)} }

// Value is the committed value. It is for the instance's own goroutine.
func (x *Variable) Value() value.Value { return x.tree.Committed() }

// Open implements Stored.
func (x *Variable) Open(*distsys.Tx, bool) (*cell.Tree, error) { return x.tree, nil }

// Close implements Stored.
func (x *Variable) Close() {}

// Keeper implements Stored.
func (x *Variable) Keeper() distsys.Resource { return x }

// Read implements Resource.
func (x *Variable) Read(_ *distsys.Tx, idx []value.Value) (value.Value, error) {
	return x.tree.Read(idx), nil
}

// Write implements Resource.
func (x *Variable) Write(_ *distsys.Tx, idx []value.Value, v value.Value) error {
	x.tree.Write(idx, v)
	return nil
}

// PreCommit implements Resource.
func (x *Variable) PreCommit(*distsys.Tx) error { return nil }

// Commit implements Resource.
func (x *Variable) Commit(*distsys.Tx) { x.tree.Commit() }

// Abort implements Resource.
func (x *Variable) Abort(*distsys.Tx) { x.tree.Abort() }

// Constant is a resource that is read only.
type Constant struct {
	mu   sync.Mutex
	tree *cell.Tree
}

var _ distsys.Stored = (*Constant)(nil)

// NewConstant returns a resource that always reads as v.
func NewConstant(v value.Value) *Constant { return &Constant{tree: cell.New(v)} }

// Open implements Stored. A write ends the run: the configuration supplies a
// constant for a parameter that the specification assigns.
func (c *Constant) Open(_ *distsys.Tx, write bool) (*cell.Tree, error) {
	if write {
		return nil, fmt.Errorf("a constant resource cannot be written")
	}
	c.mu.Lock()
	return c.tree, nil
}

// Close implements Stored.
func (c *Constant) Close() { c.mu.Unlock() }

// Keeper implements Stored.
func (c *Constant) Keeper() distsys.Resource { return c }

// Read implements Resource.
func (c *Constant) Read(_ *distsys.Tx, idx []value.Value) (value.Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tree.Read(idx), nil
}

// Write implements Resource.
func (c *Constant) Write(tx *distsys.Tx, _ []value.Value, _ value.Value) error {
	_, err := c.Open(tx, true)
	return err
}

// PreCommit implements Resource.
func (c *Constant) PreCommit(*distsys.Tx) error { return nil }

// Commit implements Resource.
func (c *Constant) Commit(*distsys.Tx) {}

// Abort implements Resource.
func (c *Constant) Abort(*distsys.Tx) {}

// Dummy is a resource that always reads as the same value and ignores writes.
// It stands for a parameter that the system does not need.
type Dummy struct{ Constant }

var _ distsys.Stored = (*Dummy)(nil)

// NewDummy returns a resource that always reads as v.
func NewDummy(v value.Value) *Dummy { return &Dummy{Constant{tree: cell.New(v)}} }

// Open implements Stored.
func (d *Dummy) Open(_ *distsys.Tx, write bool) (*cell.Tree, error) {
	d.mu.Lock()
	if write {
		return nil, nil
	}
	return d.tree, nil
}

// Keeper implements Stored.
func (d *Dummy) Keeper() distsys.Resource { return d }

// Write has no effect.
func (d *Dummy) Write(*distsys.Tx, []value.Value, value.Value) error { return nil }
