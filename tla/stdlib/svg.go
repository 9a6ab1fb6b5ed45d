// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// An element of a drawing is [name |-> tag, attrs |-> function from names,
// children |-> sequence of elements, innerText |-> string].
func svg() []Op {
	m := module{name: "SVG"}
	m.f1("SVGElemToString", func(e Value) Value {
		var b strings.Builder
		writeSVG(&b, e, 0)
		return value.String(b.String())
	})
	m.add(Op{Name: "NodeOfRingNetwork", Arity: 5, FN: func(_ *Context, args []Arg) Value {
		cx, cy, r := wantInt(args[0].Val, "NodeOfRingNetwork"), wantInt(args[1].Val, "NodeOfRingNetwork"), wantInt(args[2].Val, "NodeOfRingNetwork")
		n, total := wantInt(args[3].Val, "NodeOfRingNetwork"), wantNat(args[4].Val, "NodeOfRingNetwork")
		if total == 0 {
			value.Fail("NodeOfRingNetwork: a ring of no nodes")
		}
		// The nodes are spread clockwise, with node 0 at the top.
		angle := 2 * math.Pi * float64(n) / float64(total)
		dx, dy := int32(math.Round(float64(r)*math.Sin(angle))), int32(math.Round(float64(r)*math.Cos(angle)))
		return value.Record([]value.Field{
			{Name: "x", Val: value.Int(value.AddInt(cx, dx))},
			{Name: "y", Val: value.Int(value.SubInt(cy, dy))},
		})
	}})
	m.fn("SVGSerialize", func(ctx *Context, args []Arg) Value {
		var b strings.Builder
		writeSVG(&b, args[0].Val, 0)
		name := wantString(args[1].Val, "SVGSerialize") + strconv.Itoa(int(wantNat(args[2].Val, "SVGSerialize"))) + ".svg"
		ctx.write(value.String(name), []byte(b.String()+"\n"), false, "SVGSerialize")
		return boolean(true)
	}, 0, 0, 0)
	m.primitive("SVGElemToString NodeOfRingNetwork SVGSerialize")
	m.effects("SVGSerialize")
	return m.ops
}

// svgDepthMax limits the nesting depth of drawings.
const svgDepthMax = 500

// writeSVG writes an element and its children as XML. TLA+ identifiers cannot
// contain hyphens, so an underscore in an attribute name becomes a hyphen.
func writeSVG(b *strings.Builder, e Value, depth int) {
	if depth > svgDepthMax {
		value.Fail("SVGElemToString: nested deeper than %d", svgDepthMax)
	}
	wantFn(e, "SVGElemToString")
	tag := wantString(e.Field("name"), "SVGElemToString")
	b.WriteString("<" + tag)
	if attrs := wantFn(e.Field("attrs"), "SVGElemToString").Normal(); attrs.Kind() == value.KindRecord {
		for name, val := range attrs.Fields {
			b.WriteString(" " + strings.ReplaceAll(name, "_", "-") + "='" + xmlEscape(plain(val)) + "'")
		}
	}
	b.WriteString(">" + xmlEscape(plain(e.Field("innerText"))))
	for _, c := range wantFn(e.Field("children"), "SVGElemToString").Values() {
		writeSVG(b, c, depth+1)
	}
	b.WriteString("</" + tag + ">")
}

func xmlEscape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&apos;", `"`, "&quot;").Replace(s)
}
