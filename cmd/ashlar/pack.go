package main

import (
	"context"

	"github.com/ashlar-dev/ashlar/check"
)

// packer is a model that may work faster on packed states.
type packer interface {
	Pack(stop func() bool) (packed bool, why string)
}

// packModel lets a model that is to be searched work on packed states, where
// that is faster. What is found is the same.
func packModel(ctx context.Context, m check.Model, o checkOptions) {
	if o.profile {
		return // what is counted are expressions that are evaluated one by one
	}
	if p, ok := m.(packer); ok {
		p.Pack(func() bool { return ctx.Err() != nil })
	}
}
