// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Lasting is a Shared that survives crashes of its node: the journal of the
// instances that write it stores its value. Each write records the whole value.
type Lasting struct {
	*Shared
	name string
}

var (
	_ distsys.Lasting = (*Lasting)(nil)
	_ distsys.Stored  = (*Lasting)(nil)
)

// NewLasting returns a variable with that value. The name must be unique in the
// node.
func NewLasting(name string, v value.Value) *Lasting { return &Lasting{NewShared(v), name} }

// Keeper implements Stored.
func (l *Lasting) Keeper() distsys.Resource { return l }

// Changed implements distsys.Lasting.
func (l *Lasting) Changed(tx *distsys.Tx) []distsys.Var {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writer != tx {
		return nil
	}
	return []distsys.Var{{Name: l.name, Value: l.tree.Read(nil)}}
}
