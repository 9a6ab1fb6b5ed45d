// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// What the extracted checker may be asked at most. A short program may have very many instances,
// and the checker is given the rules of each.
const (
	NodesMax = 1024     // instances of a program, and pieces of its components
	FactsMax = 1 << 16  // static facts of a program
	TextMax  = 16 << 20 // bytes of a question
)

func (w *writer) tooLarge(what string) {
	if w.err == nil {
		w.err = fmt.Errorf("the question for the extracted checker is too large: it has %s", what)
	}
}

// tooMany reports whether a program has more instances than may be asked about, or what was
// written before exceeds a limit.
func (w *writer) tooMany(p *logic.Program) bool {
	nodes := 0
	for _, c := range p.Components {
		nodes += c.Instances * c.Partitions
		if c.Instances > NodesMax || c.Partitions > NodesMax || nodes > NodesMax {
			w.tooLarge(fmt.Sprintf("a program of more than %d instances", NodesMax))
		}
	}
	return w.err != nil
}

// plain writes a question.
func (w *writer) plain(t term) (string, error) {
	if w.err != nil {
		return "", w.err
	}
	var b strings.Builder
	if t.plain(&b); b.Len() > TextMax {
		w.tooLarge(fmt.Sprintf("more than %d bytes", TextMax))
		return "", w.err
	}
	return b.String(), nil
}
