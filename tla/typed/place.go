// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"path"
	"runtime"
	"sort"
	"strings"
)

// Place is the position in a specification that a line of generated code comes
// from.
type Place struct {
	Line int    // of the Go file; it holds until the next one
	Spec string // file:line of the specification, "" for none
}

// Places maps the lines of one generated file to the specification.
type Places struct {
	File  string // its base name
	Lines []Place
}

// Trace returns the positions in the specification that the calling goroutine
// is executing, innermost first. In a deferred function during a panic, it
// returns where the panic came from.
func (p *Places) Trace() []string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var out []string
	for {
		f, more := frames.Next()
		if path.Base(strings.ReplaceAll(f.File, "\\", "/")) == p.File {
			if at := p.find(f.Line); at != "" && (len(out) == 0 || out[len(out)-1] != at) {
				out = append(out, at)
			}
		}
		if !more {
			return out
		}
	}
}

func (p *Places) find(line int) string {
	i := sort.Search(len(p.Lines), func(i int) bool { return p.Lines[i].Line > line })
	if i == 0 {
		return ""
	}
	return p.Lines[i-1].Spec
}
