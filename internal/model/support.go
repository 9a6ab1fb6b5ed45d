package model

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// literal is a value that stands in a tree: an argument that was computed
// outside it.
type literal struct {
	core.At
	val value.Value
}

// Foreign says that core does not know the form.
func (*literal) Foreign() {}
