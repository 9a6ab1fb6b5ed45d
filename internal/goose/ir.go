// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/constant"
	"go/token"
)

// This file is the intermediate representation: what is left of a Go package
// when types are known, names are resolved, loads, stores and copies are
// explicit, and the order of evaluation is fixed. Both ends of the translator
// meet here: lowering makes it, encoding prints it.
//
// Order: a node evaluates its operands in any order. Lowering has bound to names
// what must come first, so among the operands of a node at most one has an
// effect, and no other one sees it.

// Width is an integer type of the subset.
type Width string

// The widths, under their names in proofs/lang/syntax.v.
const (
	U8  Width = "U8"
	U16 Width = "U16"
	U32 Width = "U32"
	U64 Width = "U64"
	I64 Width = "I64" // int and int64

	// I8 is a number of width I64 in Coq, as are the two after it; arithmetic brings
	// its results back into their range.
	I8  Width = "I8"
	I16 Width = "I16"
	I32 Width = "I32"
)

// small reports whether the width is one that Coq does not have.
func (w Width) small() bool { return w == I8 || w == I16 || w == I32 }

// TypeKind is the kind of a Type.
type TypeKind uint8

// The kinds of types.
const (
	KindInt TypeKind = iota
	KindBool
	KindString
	KindPtr
	KindFunc
	KindMap
	KindSlice
	KindStruct
	KindMutex
	KindRWMutex
	KindWaitGroup
	KindArray
	KindError
	KindInterface
)

// Type is a type as memory sees it: the components of its variables.
type Type struct {
	Kind   TypeKind
	Width  Width  // of KindInt
	Struct Global // of KindStruct
	Elem   *Type  // of KindSlice, KindMap, KindArray
	Len    int64  // of KindArray
	Key    *Type  // of KindMap
	// Locks says that a value of the type holds a lock and must not be copied.
	Locks bool
}

// Method is a method in the table of an interface value.
type Method struct {
	Name string
	Func Global
	// Receiver is the receiver with which the function is called, computed from the
	// Local "r", if it is not r itself.
	Receiver Expr
}

// Global is a name at the level of a package. Package is the Coq module, empty
// for the package that is being translated.
type Global struct{ Package, Name string }

func (g Global) String() string {
	if g.Package == "" {
		return g.Name
	}
	return g.Package + "." + g.Name
}

// Expr is an expression of the IR.
type Expr interface{ irExpr() }

// Stmt is a statement of the IR.
type Stmt interface{ irStmt() }

type (
	// Lit is a constant of a type; Name is the constant of the package that it is.
	Lit struct {
		Type  Type
		Value constant.Value
		Name  *Global
	}
	// Nil is the zero value of a type that has nil.
	Nil struct{ Type Type }
	// Zero is the zero value of any type.
	Zero struct{ Type Type }
	// Local is a name bound in the function: a value, or the location of a variable.
	Local struct{ Name string }
	// Func is a function or method of this package or another.
	Func struct{ Global }
	// Unary is -x (as 0-x is printed), ^x, !x.
	Unary struct {
		Op    token.Token
		Width Width
		X     Expr
	}
	// Binary is an operator without control flow; operands have one type, but for shifts.
	Binary struct {
		Op   token.Token
		X, Y Expr
	}
	// Logic is X && Y or X || Y.
	Logic struct {
		Op   token.Token
		X, Y Expr
	}
	// Convert is a conversion between integer types.
	Convert struct {
		To Width
		X  Expr
	}
	// Call applies a function value.
	Call struct {
		Fun  Expr
		Args []Expr
	}
	// Lib applies a function of golib.v, sync.v or primitive.v; types come first.
	Lib struct {
		Name  string
		Len   int64  // the length of an array, before the others
		Text  string // a name, before the others
		Types []Type
		Zero  *Type // an argument before the others: the zero value of a type
		Args  []Expr
	}
	// Load reads a variable of a type.
	Load struct {
		Type Type
		Addr Expr
	}
	// FieldAddr is the location of a field of the struct at X.
	FieldAddr struct {
		Struct Global
		Field  string
		X      Expr
	}
	// FieldGet is a field of a struct value.
	FieldGet struct {
		Struct Global
		Field  string
		X      Expr
	}
	// StructVal is a struct value, all fields in order.
	StructVal struct{ Fields []Expr }
	// Ref is a new variable that holds X.
	Ref struct {
		Type Type
		X    Expr
	}
	// RefZero is a new variable of zero value.
	RefZero struct{ Type Type }
	// Interface is a value X as an interface: with its methods, in the order of
	// their names.
	Interface struct {
		X       Expr
		Methods []Method
	}
	// Tuple are several results.
	Tuple struct{ Xs []Expr }
	// Closure is a function literal.
	Closure struct {
		Params  []string // empty: not used
		Body    []Stmt
		Results int
	}
	// Block is a value that statements compute.
	Block struct {
		Stmts []Stmt
		X     Expr
	}
)

type (
	// Let names a value for the statements after it.
	Let struct {
		Name string
		X    Expr
	}
	// LetTuple names the parts of several results; an empty name is not used.
	LetTuple struct {
		Names []string
		X     Expr
	}
	// Do evaluates X for its effect; Unit says that its value is ().
	Do struct {
		X    Expr
		Unit bool
	}
	// Store writes a variable.
	Store struct {
		Type    Type
		Addr, X Expr
	}
	// If chooses.
	If struct {
		Cond       Expr
		Then, Else []Stmt
	}
	// For is a loop; the variables of its first clause are before it.
	For struct {
		Cond       Expr // nil: for ever
		Post, Body []Stmt
	}
	// RangeInt counts Name from 0 to below N, all of type Width.
	RangeInt struct {
		Width Width
		N     Expr
		Name  string
		Body  []Stmt
	}
	// RangeMap visits the entries of a map in any order.
	RangeMap struct {
		M          Expr
		Key, Value string
		Body       []Stmt
	}
	// Return leaves the function. X is nil if there is no result.
	Return struct{ X Expr }
	// Break ends the innermost loop.
	Break struct{}
	// Continue begins the next round of the innermost loop.
	Continue struct{}
	// Go starts a thread.
	Go struct{ Body []Stmt }
	// Panic has no next step.
	Panic struct{ X Expr }
	// Note is a comment.
	Note struct{ Text string }
)

func (Lit) irExpr()       {}
func (Nil) irExpr()       {}
func (Zero) irExpr()      {}
func (Local) irExpr()     {}
func (Func) irExpr()      {}
func (Unary) irExpr()     {}
func (Binary) irExpr()    {}
func (Logic) irExpr()     {}
func (Convert) irExpr()   {}
func (Call) irExpr()      {}
func (Lib) irExpr()       {}
func (Load) irExpr()      {}
func (FieldAddr) irExpr() {}
func (FieldGet) irExpr()  {}
func (StructVal) irExpr() {}
func (Ref) irExpr()       {}
func (RefZero) irExpr()   {}
func (Interface) irExpr() {}
func (Tuple) irExpr()     {}
func (Closure) irExpr()   {}
func (Block) irExpr()     {}

func (Let) irStmt()      {}
func (LetTuple) irStmt() {}
func (Do) irStmt()       {}
func (Store) irStmt()    {}
func (If) irStmt()       {}
func (For) irStmt()      {}
func (RangeInt) irStmt() {}
func (RangeMap) irStmt() {}
func (Return) irStmt()   {}
func (Break) irStmt()    {}
func (Continue) irStmt() {}
func (Go) irStmt()       {}
func (Panic) irStmt()    {}
func (Note) irStmt()     {}

// Package is a translated package.
type Package struct {
	// Path is the import path, Name the package's name, Doc its comment.
	Path, Name, Doc string
	// Configuration is the build's configuration, if it decides which files the
	// package has; Left are the files that it excludes.
	Configuration string
	Left          []string
	// Module is the Coq module: the logical path and the last name.
	Prefix, Module string
	Imports        []Import
	// Texts says that the package converts strings to bytes.
	Texts bool
	// Library says that it uses proofs/lang/packages.v.
	Library bool
	// Omitted are the functions that a directive leaves out, by their names in Go.
	Omitted []string
	Vars    []Var
	Structs []Struct
	Consts  []Const
	Funcs   []Function // callees first
}

// Import is another translated package: From Prefix Require Module.
type Import struct{ Path, Prefix, Module string }

// Struct is a struct type.
type Struct struct {
	Name, Doc, Place string
	Fields           []StructField
}

// StructField is a field of a struct type.
type StructField struct {
	Name string
	Type Type
}

// Const is a constant of the package.
type Const struct {
	Name, Doc, Place string
	Value            constant.Value
}

// Var is a variable of the package that never changes: X is its value.
type Var struct {
	Name, Doc, Place string
	X                Expr
}

// Function is a function or a method, the receiver among the parameters.
type Function struct {
	Name, Doc, Place string
	Params           []string // empty: not used
	Results          int
	Recursive        bool
	Body             []Stmt
}
