// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// places returns the source texts that the model's places refer to.
type places struct{ files map[string]*source.File }

func newPlaces(l *load.Loaded) *places {
	p := &places{files: map[string]*source.File{}}
	for _, m := range l.Modules {
		if f := m.Syntax.Span().File; f != nil {
			p.files[f.Name] = f
		}
	}
	return p
}

// line returns the line of text at a place "file:line:column", or nothing.
func (p *places) line(place string) string {
	name, line, _ := report.SplitPlace(place)
	f := p.files[name]
	n, err := strconv.Atoi(line)
	if f == nil || err != nil {
		return ""
	}
	return strings.TrimSpace(f.Line(n))
}
