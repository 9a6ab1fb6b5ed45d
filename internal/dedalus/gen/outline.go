// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"hash/fnv"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Outline is what a compiled program shows those who only talk with it: its name, its
// hash, its relations and their numbers, and its components, none of which can be
// made. It is that of the package that Generate writes.
func Outline(p *logic.Program) *rt.Program {
	g := &generator{program: p}
	g.border()
	kinds := map[string]rt.RelationKind{"Input": rt.Input, "Output": rt.Output, "Message": rt.Message, "Durable": rt.Durable}
	out := &rt.Program{Name: p.Name, Hash: hashOf(p)}
	for _, b := range g.relations {
		out.Relations = append(out.Relations, outlineOf(b.Relation, kinds[b.kind]))
	}
	for _, r := range p.Relations {
		if r.Kind == logic.Static {
			out.Static = append(out.Static, outlineOf(r, 0))
		}
	}
	for _, c := range p.Components {
		out.Components = append(out.Components, rt.ComponentType{Name: c.Name, Of: c.Of, Instances: c.Instances, Partitions: c.Partitions})
	}
	return out
}

func outlineOf(r *logic.Relation, kind rt.RelationKind) rt.Relation {
	out := rt.Relation{Name: r.Name, Kind: kind}
	for _, c := range r.Columns {
		out.Columns = append(out.Columns, rt.Column{Name: c.Name, Type: typeOf(c.Type)})
	}
	return out
}

func typeOf(t logic.Type) rt.Type {
	kinds := [...]uint8{logic.U64: rt.KindU64, logic.Int: rt.KindInt, logic.Bool: rt.KindBool, logic.Text: rt.KindText,
		logic.Bytes: rt.KindBytes, logic.Node: rt.KindNode, logic.SetType: rt.KindSet}
	out := rt.Type{Kind: kinds[t.Kind]}
	if t.Elem != nil {
		e := typeOf(*t.Elem)
		out.Elem = &e
	}
	return out
}

// hashOf is by what compiled programs know each other: of the program's text.
func hashOf(p *logic.Program) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p.String()))
	return h.Sum64()
}
