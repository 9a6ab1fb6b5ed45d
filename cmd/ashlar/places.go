package main

import (
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/source"
	"github.com/ashlar-dev/ashlar/tla/load"
	"github.com/ashlar-dev/ashlar/tla/pcal"
)

// places leads from what the model says about places to what the user wrote.
type places struct {
	files map[string]*source.File
	// made is the file of a translation that was made in memory, and labels
	// are where the algorithm's labels stand.
	made   string
	labels map[string]source.Span
}

func newPlaces(l *load.Loaded) *places {
	p := &places{files: map[string]*source.File{}, labels: map[string]source.Span{}}
	for _, m := range l.Modules {
		if f := m.Syntax.Span().File; f != nil {
			p.files[f.Name] = f
		}
	}
	if l.Translation == nil || l.Algorithm == nil {
		return p
	}
	p.made = l.Translation.Name
	p.files[p.made] = l.Translation
	ambiguous := map[string]bool{}
	add := func(blocks []*pcal.Block) {
		for _, b := range blocks {
			if _, ok := p.labels[b.Label]; ok {
				ambiguous[b.Label] = true
			}
			p.labels[b.Label] = b.Span
		}
	}
	for _, x := range l.Algorithm.Processes {
		add(x.Blocks)
	}
	for _, x := range l.Algorithm.Procedures {
		add(x.Blocks)
	}
	for _, x := range l.Algorithm.Archetypes {
		add(x.Blocks)
	}
	for name := range ambiguous {
		delete(p.labels, name)
	}
	return p
}

// action is the place of an action. In a translation that was made in memory
// it is that of the label, and none for an action that the user did not write.
func (p *places) action(a check.Action) string {
	if p.made == "" || !strings.HasPrefix(a.Place, p.made+":") {
		return a.Place
	}
	if span, ok := p.labels[a.Name]; ok && span.IsValid() {
		return span.String()
	}
	return ""
}

// line is the line of text at a place "file:line:column", or nothing.
func (p *places) line(place string) string {
	rest, _, ok := cutLast(place, ":")
	if !ok {
		return ""
	}
	name, number, ok := cutLast(rest, ":")
	f := p.files[name]
	n, err := strconv.Atoi(number)
	if !ok || f == nil || err != nil {
		return ""
	}
	return strings.TrimSpace(f.Line(n))
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
