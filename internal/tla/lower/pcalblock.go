// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"sort"

	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Cutting a body at its labels.
//
// Control that falls from one step into the next becomes a goto. Statements
// inside which control may leave the step end their block: what follows them
// has a label.

// cut makes blocks of items that satisfy the rules of labels.
func (b *body) cut(items []*item) []*pcal.Block {
	b.blocks = nil
	b.step(items, b.end)
	order := map[*pcal.Block]int{}
	for _, x := range b.blocks {
		order[x] = b.labels[x.Label].order
	}
	sort.SliceStable(b.blocks, func(i, j int) bool { return order[b.blocks[i]] < order[b.blocks[j]] })
	return b.blocks
}

// step makes the block that starts at the label of the first item; next is
// where control goes after the last.
func (b *body) step(items []*item, next string) {
	l := items[0].label
	block := &pcal.Block{Label: l.name, Plus: l.plus, Minus: l.minus, Auto: l.auto, Span: l.span}
	b.blocks = append(b.blocks, block)
	block.Body = b.seq(items, next, l.name)
}

// seq turns items into statements of one step. If next is empty, the statements
// after the items continue the step. at is the label of the first item if the
// caller has already handled that label.
func (b *body) seq(items []*item, next, at string) []pcal.Stmt {
	var out []pcal.Stmt
	for i, it := range items {
		if it.label != nil && !(i == 0 && at != "") {
			b.step(items[i:], next)
			return append(out, jump(it.label.name, it))
		}
		rest := items[i+1:]
		after := next
		if len(rest) > 0 && rest[0].label != nil {
			after = rest[0].label.name
		}
		switch {
		case it.kind == whileItem:
			return append(out, b.while(it, rest, next, at)...)
		case it.kind != leafItem:
			if !it.jumps {
				out = append(out, b.nested(it, ""))
				continue
			}
			out = append(out, b.nested(it, after))
			b.further(rest, next)
			return out
		}
		switch s := it.leaf.(type) {
		case *pcal.Goto, *pcal.Return:
			b.further(rest, next)
			return append(out, s)
		case *pcal.Call:
			call := *s
			call.Return = after
			if len(rest) > 0 && rest[0].label == nil {
				switch t := rest[0].leaf.(type) {
				case *pcal.Goto:
					call.Return, rest = t.Label, rest[1:]
				case *pcal.Return:
					call.Return, rest = "", rest[1:]
				}
			}
			b.further(rest, next)
			return append(out, &call)
		default:
			out = append(out, it.leaf)
		}
	}
	if next != "" {
		var last *item
		if len(items) > 0 {
			last = items[len(items)-1]
		}
		out = append(out, jump(next, last))
	}
	return out
}

// jump is the goto at the end of a step.
func jump(to string, from *item) pcal.Stmt {
	g := &pcal.Goto{Label: to}
	if from != nil {
		g.Place = from.span
	}
	return g
}

// further makes blocks of labelled items that can only be reached by a jump.
func (b *body) further(rest []*item, next string) {
	for i, it := range rest {
		if it.label != nil {
			b.step(rest[i:], next)
			return
		}
	}
}

// while becomes an if whose first branch jumps back to the label.
func (b *body) while(it *item, rest []*item, next, at string) []pcal.Stmt {
	loop := b.seq(it.branches[0], at, "")
	if isTrue(it.cond) {
		b.further(rest, next)
		return loop
	}
	after := b.seq(rest, next, "")
	return []pcal.Stmt{&pcal.If{At: pcal.At{Place: it.span}, Cond: it.cond, Then: loop, Else: after}}
}

// nested rebuilds an if, either or with.
func (b *body) nested(it *item, next string) pcal.Stmt {
	at := pcal.At{Place: it.span}
	var branches [][]pcal.Stmt
	for _, list := range it.branches {
		branches = append(branches, b.seq(list, next, ""))
	}
	switch it.kind {
	case ifItem:
		return &pcal.If{At: at, Cond: it.cond, Then: branches[0], Else: branches[1]}
	case eitherItem:
		return &pcal.Either{At: at, Branches: branches}
	}
	w := it.with
	w.Body = branches[0]
	return &w
}
