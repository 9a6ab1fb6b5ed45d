// SPDX-License-Identifier: Apache-2.0

package goose

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of the translator's diagnostics. Each comment shows a failing line;
// testdata/refused has a file per code. Category says which are permanent.
const (
	// GoError: the Go compiler would reject this. Example: var x uint64 = "a"
	GoError source.Code = "GoError"
	// LeftOut: a warning of a file that build constraints leave out. Example: //go:build prod
	LeftOut source.Code = "LeftOut"
	// IntegerType: an integer that holds an address. Example: var x uintptr
	IntegerType source.Code = "IntegerType"
	// FloatType: Example: var x float64
	FloatType source.Code = "FloatType"
	// InterfaceType: interfaces but error. Example: func f(x any)
	InterfaceType source.Code = "InterfaceType"
	// ChannelType: channels, select, send, receive, close. Example: make(chan int)
	ChannelType source.Code = "ChannelType"
	// ArrayType: an array without elements, of very many, or of locks. Example: var x [0]byte
	ArrayType source.Code = "ArrayType"
	// AnonymousStruct: a struct type without a name. Example: var x struct{ a int }
	AnonymousStruct source.Code = "AnonymousStruct"
	// EmptyStruct: a struct without fields takes no memory, so its variables have no distinct addresses. Example: type T
	// struct{}
	EmptyStruct source.Code = "EmptyStruct"
	// BlankField: Example: type T struct{ _ int }
	BlankField source.Code = "BlankField"
	// EmbeddedField: Example: type T struct{ sync.Mutex }
	EmbeddedField source.Code = "EmbeddedField"
	// GenericCode: type parameters. Example: func f[T any](x T)
	GenericCode source.Code = "GenericCode"
	// MapKey: a map whose keys the semantics cannot compare. Example: map[any]int
	MapKey source.Code = "MapKey"
	// ForeignType: a type of a package that is not translated. Example: var t time.Time
	ForeignType source.Code = "ForeignType"
	// ForeignCall: a function of a package that is not translated. Example: fmt.Println(x)
	ForeignCall source.Code = "ForeignCall"
	// ForeignValue: a variable or constructor outside the model. Example: disk.Open("d", 5)
	ForeignValue source.Code = "ForeignValue"
	// OpaqueValue: a value whose insides the model hides. Example: filesys.File(3)
	OpaqueValue source.Code = "OpaqueValue"
	// ImportKind: import "C", dot imports. Example: import . "sync"
	ImportKind source.Code = "ImportKind"
	// PackageVariable: one that something changes, or whose value is not a constant. Example: var counter uint64
	PackageVariable source.Code = "PackageVariable"
	// InitFunction: Example: func init() {}
	InitFunction source.Code = "InitFunction"
	// NoBody: a function in assembly or linked from elsewhere. Example: func f()
	NoBody source.Code = "NoBody"
	// LanguageVersion: before Go 1.22 loops share one variable. Example: go 1.20
	LanguageVersion source.Code = "LanguageVersion"
	// LocalType: a type declared in a function. Example: func f() { type t int }
	LocalType source.Code = "LocalType"
	// VariadicFunction: Example: func f(xs ...int)
	VariadicFunction source.Code = "VariadicFunction"
	// MethodValue: a method that is not called. Example: g := t.Method
	MethodValue source.Code = "MethodValue"
	// MultiValueCall: f(g()) where g has several results. Example: f(g())
	MultiValueCall source.Code = "MultiValueCall"
	// MutualRecursion: functions that call each other. Example: func f() { g() }; func g() { f() }
	MutualRecursion source.Code = "MutualRecursion"
	// DirectiveForm: a goose: directive that there is not, or that does not fit. Example: //goose:assert above func f(x int) {}
	DirectiveForm source.Code = "DirectiveForm"
	// GotoLabel: goto, labels, and break or continue to a label. Example: break outer
	GotoLabel source.Code = "GotoLabel"
	// FallthroughCase: Example: fallthrough
	FallthroughCase source.Code = "FallthroughCase"
	// SwitchBreak: break within switch. Example: switch { case a: break }
	SwitchBreak source.Code = "SwitchBreak"
	// DeferForm: defer of anything but an unlock at the top of a function. Example: defer f()
	DeferForm source.Code = "DeferForm"
	// PanicValue: panic of anything but a constant string. Example: panic(x)
	PanicValue source.Code = "PanicValue"
	// UnsupportedBuiltin: Example: clear(m)
	UnsupportedBuiltin source.Code = "UnsupportedBuiltin"
	// UnsupportedExpr: an expression that has no translation. Example: s[1:2:3]
	UnsupportedExpr source.Code = "UnsupportedExpr"
	// UnsupportedConversion: Example: string(rune(65))
	UnsupportedConversion source.Code = "UnsupportedConversion"
	// UnsupportedComparison: order of strings, comparison of functions. Example: "a" < s
	UnsupportedComparison source.Code = "UnsupportedComparison"
	// UnsupportedRange: range over strings and functions. Example: for range "abc"
	UnsupportedRange source.Code = "UnsupportedRange"
	// LockCopy: a value with a lock in it is copied. Example: x := *p
	LockCopy source.Code = "LockCopy"
	// SyncForm: a use of package sync that the model does not have. Example: sync.OnceFunc(f)
	SyncForm source.Code = "SyncForm"
	// EvaluationOrder: Go does not say whether an operand is read before another one's call. Example: p.x + f(p)
	EvaluationOrder source.Code = "EvaluationOrder"
	// LoopVariable: a captured variable of a loop that its body changes too. Example: for i := 0; i < 9; i++ { go func() { i++ }() }
	LoopVariable source.Code = "LoopVariable"
	// NameClash: two names become one in Coq. Example: func (t T) m() {}; func T__m() {}
	NameClash source.Code = "NameClash"
	// TooDeep: nested more deeply than anybody writes. Example: ((((((...))))))
	TooDeep source.Code = "TooDeep"
)

// depthMax bounds how deeply expressions and statements may nest.
const depthMax = 200
