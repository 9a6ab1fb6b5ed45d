// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// What the translation of functions of the standard library does: the functions
// are in proofs/lang/packages.v.

// libraryEffect is what a call does to memory.
type libraryEffect uint8

const (
	pure   libraryEffect = iota // looks at its arguments only
	reads                       // reads what slices hold, or allocates
	writes                      // changes what slices hold, or calls a function
)

// libraryFunction is a function of the standard library.
type libraryFunction struct {
	name   string
	effect libraryEffect
	// element: the type of the first argument's elements comes first.
	element bool
	// bits, if not 0, comes first.
	bits int64
}

var libraryFunctions = map[string]libraryFunction{
	"bytes.Clone":               {name: "bytes_clone", effect: reads},
	"bytes.Compare":             {name: "bytes_compare", effect: reads},
	"bytes.Equal":               {name: "bytes_equal", effect: reads},
	"bytes.HasPrefix":           {name: "bytes_has_prefix", effect: reads},
	"cmp.Compare":               {name: "compare"},
	"math/bits.LeadingZeros32":  {name: "leading_zeros", bits: 32},
	"math/bits.LeadingZeros64":  {name: "leading_zeros", bits: 64},
	"math/bits.Len":             {name: "bit_len"},
	"math/bits.Len32":           {name: "bit_len"},
	"math/bits.Len64":           {name: "bit_len"},
	"math/bits.Mul64":           {name: "mul64"},
	"math/bits.OnesCount8":      {name: "ones_count"},
	"math/bits.OnesCount16":     {name: "ones_count"},
	"math/bits.OnesCount32":     {name: "ones_count"},
	"math/bits.OnesCount64":     {name: "ones_count"},
	"math/bits.TrailingZeros32": {name: "trailing_zeros", bits: 32},
	"math/bits.TrailingZeros64": {name: "trailing_zeros", bits: 64},
	"slices.BinarySearchFunc":   {name: "binary_search_func", effect: writes, element: true},
	"slices.BinarySearch":       {name: "binary_search", effect: reads, element: true},
	"slices.Clip":               {name: "clip", element: true},
	"slices.Clone":              {name: "clone", effect: reads, element: true},
	"slices.Contains":           {name: "contains", effect: reads, element: true},
	"slices.Delete":             {name: "delete", effect: writes, element: true},
	"slices.Index":              {name: "index", effect: reads, element: true},
	"slices.Insert":             {name: "insert", effect: writes, element: true},
	"slices.Replace":            {name: "replace", effect: writes, element: true},
	"slices.Reverse":            {name: "reverse", effect: writes, element: true},
	"slices.Sort":               {name: "sort", effect: writes, element: true},
	"slices.SortFunc":           {name: "sort_func", effect: writes, element: true},
	"sort.Search":               {name: "search", effect: writes},

	"encoding/binary.AppendUvarint":             {name: "append_uvarint", effect: writes},
	"encoding/binary.Uvarint":                   {name: "uvarint", effect: reads},
	"encoding/binary.LittleEndian.AppendUint16": {name: "le_append_uint16", effect: writes},
	"encoding/binary.LittleEndian.AppendUint32": {name: "le_append_uint32", effect: writes},
	"encoding/binary.LittleEndian.AppendUint64": {name: "le_append_uint64", effect: writes},
	"encoding/binary.LittleEndian.PutUint16":    {name: "le_put_uint16", effect: writes},
	"encoding/binary.LittleEndian.PutUint32":    {name: "le_put_uint32", effect: writes},
	"encoding/binary.LittleEndian.PutUint64":    {name: "le_put_uint64", effect: writes},
	"encoding/binary.LittleEndian.Uint16":       {name: "le_uint16", effect: reads},
	"encoding/binary.LittleEndian.Uint32":       {name: "le_uint32", effect: reads},
	"encoding/binary.LittleEndian.Uint64":       {name: "le_uint64", effect: reads},
	"encoding/binary.BigEndian.AppendUint16":    {name: "be_append_uint16", effect: writes},
	"encoding/binary.BigEndian.AppendUint32":    {name: "be_append_uint32", effect: writes},
	"encoding/binary.BigEndian.AppendUint64":    {name: "be_append_uint64", effect: writes},
	"encoding/binary.BigEndian.PutUint16":       {name: "be_put_uint16", effect: writes},
	"encoding/binary.BigEndian.PutUint32":       {name: "be_put_uint32", effect: writes},
	"encoding/binary.BigEndian.PutUint64":       {name: "be_put_uint64", effect: writes},
	"encoding/binary.BigEndian.Uint16":          {name: "be_uint16", effect: reads},
	"encoding/binary.BigEndian.Uint32":          {name: "be_uint32", effect: reads},
	"encoding/binary.BigEndian.Uint64":          {name: "be_uint64", effect: reads},
}

// std is a function of packages.v.
func (f *fn) std(name string, args ...Expr) Lib {
	f.pkg.Library = true
	return Lib{Name: "std." + name, Args: args}
}

// library lowers a call of a function of the standard library, under its name
// there, if there is a translation of it.
func (f *fn) library(e *ast.CallExpr, name string) (o operand, ok bool) {
	switch name {
	case "cmp.Or":
		return f.firstNonZero(e), true
	case "fmt.Sprintf", "fmt.Sprint":
		ops := f.texts(e.Args)
		return join(f.std("any_text"), ops...).calling(false), true
	case "errors.Is":
		return f.errorIs(e), true
	case "errors.New", "fmt.Errorf":
		return f.newError(e), true
	}
	fun, ok := libraryFunctions[name]
	if !ok {
		return operand{}, false
	}
	if !f.libraryArguments(e, fun.name) {
		return operand{}, true
	}
	lib := f.std(fun.name)
	lib.Len = fun.bits
	if fun.element {
		elem, ok := f.elem(e.Args[0])
		if !ok {
			return operand{}, true
		}
		lib.Types = []Type{elem}
	}
	f.wantParams(e)
	ops := f.exprs(e.Args...)
	lib.Args = terms(ops)
	o = join(lib, ops...)
	switch fun.effect {
	case reads:
		o = o.reading().calling(false)
	case writes:
		o = o.reading().calling(true)
	}
	return o, true
}

// firstNonZero is cmp.Or of integers: all of them are evaluated.
func (f *fn) firstNonZero(e *ast.CallExpr) operand {
	t := f.typ(f.unit.Info.TypeOf(e), e)
	if t.Kind != KindInt || len(e.Args) == 0 || e.Ellipsis.IsValid() {
		f.refuse(e, ForeignCall, "cmp.Or of anything but integers", "")
		return operand{}
	}
	ops := f.exprs(e.Args...)
	x := ops[len(ops)-1].x
	for i := len(ops) - 2; i >= 0; i-- {
		lib := f.std("or", ops[i].x, x)
		lib.Zero = &t
		x = lib
	}
	return join(x, ops...)
}

// errorIs is errors.Is. What an error wraps is not in the model: so one error may
// be another one, or not, unless they are the same or the first is nil.
func (f *fn) errorIs(e *ast.CallExpr) operand {
	f.wantParams(e)
	ops := f.exprs(e.Args...)
	return join(f.std("error_is", terms(ops)...), ops...).calling(false)
}

// newError is an error that is distinct from every other. Its text is not in the model;
// what is in the text is evaluated.
func (f *fn) newError(e *ast.CallExpr) operand {
	ops := f.texts(e.Args)
	return join(f.std("new_error"), ops...).calling(false)
}

// texts evaluates what would be in a text, for what that does.
func (f *fn) texts(args []ast.Expr) []operand {
	var rest []ast.Expr
	for _, a := range args {
		if f.unit.Info.Types[a].Value == nil && !f.unit.Info.Types[a].IsNil() {
			rest = append(rest, a)
		}
	}
	ops := f.exprs(rest...)
	for i, o := range ops {
		if o.x != nil && !atomic(o.x) {
			f.emit(Do{X: o.x})
			ops[i].x, ops[i].pending = Zero{Type: Type{Kind: KindPtr}}, false
		}
	}
	return ops
}

// assertion is a call of a function with the directive goose:assert.
func (f *fn) assertion(e *ast.CallExpr) operand {
	var ops []operand
	cond := f.list(func() operand { return f.expr(e.Args[0]) }, func() operand {
		ops = f.texts(e.Args[1:])
		return join(Zero{Type: Type{Kind: KindPtr}}, ops...)
	})
	return join(Lib{Name: "assert", Args: []Expr{cond[0].x}}, cond...).calling(false)
}

// libraryArguments refuses arguments that the function in Coq does not have.
func (f *fn) libraryArguments(e *ast.CallExpr, name string) bool {
	switch name {
	case "compare":
		return f.comparesIntegers(e)
	case "contains", "index":
		return f.comparesElements(e)
	case "insert":
		return f.insertsOne(e)
	case "replace":
		return f.spreads(e)
	case "sort", "binary_search":
		return f.sortsIntegers(e)
	case "sort_func":
		return f.comparesQuietly(e)
	}
	return true
}

func (f *fn) comparesIntegers(e *ast.CallExpr) bool {
	if f.typ(f.unit.Info.TypeOf(e.Args[0]), e.Args[0]).Kind == KindInt {
		return true
	}
	f.refuse(e, ForeignCall, "cmp.Compare of anything but integers", "")
	return false
}

func (f *fn) sortsIntegers(e *ast.CallExpr) bool {
	if elem, ok := f.elem(e.Args[0]); ok && elem.Kind == KindInt {
		return true
	}
	f.refuse(e, ForeignCall, "a sort or a search of anything but integers", "")
	return false
}

func (f *fn) comparesElements(e *ast.CallExpr) bool {
	elem, ok := f.elem(e.Args[0])
	if !ok {
		return false
	}
	switch elem.Kind {
	case KindInt, KindBool, KindString, KindPtr, KindError:
	default:
		f.refuse(e, ForeignCall, "a search for values of this type", "write a loop")
		return false
	}
	return true
}

func (f *fn) insertsOne(e *ast.CallExpr) bool {
	if len(e.Args) == 3 && !e.Ellipsis.IsValid() {
		return true
	}
	f.refuse(e, ForeignCall, "slices.Insert of several values", "insert one at a time")
	return false
}

func (f *fn) spreads(e *ast.CallExpr) bool {
	if e.Ellipsis.IsValid() {
		return true
	}
	f.refuse(e, ForeignCall, "slices.Replace by values one by one", "put them into a slice")
	return false
}

// comparesQuietly: a sort in Coq compares other pairs than Go's does, and in
// another order.
func (f *fn) comparesQuietly(e *ast.CallExpr) bool {
	switch c := ast.Unparen(e.Args[1]).(type) {
	case *ast.FuncLit:
		q := &quietness{unit: f.unit, quiet: true}
		ast.Inspect(c.Body, q.see)
		for _, callee := range q.calls {
			q.quiet = q.quiet && f.unit.Quiet[callee.FullName()]
		}
		if q.quiet {
			return true
		}
	case *ast.Ident:
		if o, ok := f.unit.Info.Uses[c].(*types.Func); ok && f.unit.Quiet[o.FullName()] {
			return true
		}
	}
	f.refuse(e.Args[1], ForeignCall, "a sort by a function that may change something", "write a function literal that compares")
	return false
}

// libraryMethod lowers binary.LittleEndian.Uint64(b) and the like.
func (f *fn) libraryMethod(e *ast.CallExpr, fun *ast.SelectorExpr) (operand, bool) {
	sel, ok := ast.Unparen(fun.X).(*ast.SelectorExpr)
	if !ok {
		return operand{}, false
	}
	v, ok := f.unit.Info.Uses[sel.Sel].(*types.Var)
	if !ok || packagePath(v) != "encoding/binary" {
		return operand{}, false
	}
	return f.library(e, "encoding/binary."+v.Name()+"."+fun.Sel.Name)
}

// extreme is min or max.
func (f *fn) extreme(e *ast.CallExpr, name string) operand {
	t := f.typ(f.unit.Info.TypeOf(e), e)
	if t.Kind != KindInt {
		f.refuse(e, UnsupportedBuiltin, "the builtin function "+name+" of anything but integers", "write an if")
		return operand{}
	}
	ops := f.exprs(e.Args...)
	x := ops[0].x
	for _, o := range ops[1:] {
		x = f.std(name, x, o.x)
	}
	return join(x, ops...)
}

// clear is clear(m) or clear(s).
func (f *fn) clear(e *ast.CallExpr) operand {
	t := f.typ(f.unit.Info.TypeOf(e.Args[0]), e.Args[0])
	o := f.expr(e.Args[0])
	lib := f.std("clear_map", o.x)
	if t.Kind == KindSlice {
		lib = f.std("clear_slice", o.x)
		lib.Types = []Type{*t.Elem}
	}
	return join(lib, o).calling(true)
}

// narrow brings the result of an operator into the range of its type.
func narrow(t Type, x Expr) Expr {
	if t.Kind == KindInt && t.Width.small() {
		return Convert{To: t.Width, X: x}
	}
	return x
}

// arguments are the operands of a call, those of a variable number in a slice.
func (f *fn) arguments(e *ast.CallExpr, sig *types.Signature, first ...func() operand) []operand {
	f.wantParams(e)
	items := first
	for _, a := range e.Args {
		items = append(items, func() operand { return f.expr(a) })
	}
	ops := f.list(items...)
	if !sig.Variadic() || e.Ellipsis.IsValid() {
		return ops
	}
	fixed := len(first) + sig.Params().Len() - 1
	s, ok := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice)
	if !ok {
		return ops
	}
	elem := f.typ(s.Elem(), e)
	rest := ops[fixed:]
	if len(rest) == 0 {
		return append(ops, value(Nil{Type: Type{Kind: KindSlice, Elem: &elem}}))
	}
	for i := range ops {
		if ops[i].pending {
			ops[i].x, ops[i].pending = f.hoist(ops[i].x), false
		}
	}
	integer := func(n int) Expr {
		return Lit{Type: Type{Kind: KindInt, Width: I64}, Value: constant.MakeInt64(int64(n))}
	}
	all := f.hoist(Lib{Name: "make_slice", Types: []Type{elem}, Args: []Expr{integer(len(rest))}})
	for i, o := range rest {
		f.emit(Do{Unit: true, X: Lib{Name: "slice_set", Types: []Type{elem}, Args: []Expr{all, integer(i), o.x}}})
	}
	packed := join(all, rest...)
	packed.at = rest[0].at
	return append(ops[:fixed:fixed], packed)
}
