// SPDX-License-Identifier: Apache-2.0

// Package coq represents and prints terms of the language of proofs/lang as Coq
// text.
//
// In: a tree of applications, operators, bindings and sequences, and the
// definitions of a file. Out: text that coqc reads with the notations of
// proofs/lang/notation.v and golib.v, laid out for people. The package knows
// nothing about Go; its caller decides what a tree means.
package coq

import "strings"

// Expr is a term. The nodes are the types of this file.
type Expr interface{ expr() }

// Atom is text that needs no parentheses anywhere: a name, a literal, a string.
type Atom string

// Raw is text that needs parentheses as an argument, like a constructor with
// its arguments.
type Raw string

// App applies Fun to Args.
type App struct {
	Fun  Expr
	Args []Expr
}

// Infix is "X Op Y".
type Infix struct {
	Op   string
	X, Y Expr
}

// Prefix is "Op X", where Op binds more tightly than application: a load.
type Prefix struct {
	Op string
	X  Expr
}

// Not is the negation of a boolean.
type Not struct{ X Expr }

// Field is the location of a field: X.[Struct, "Name"].
type Field struct {
	X            Expr
	Struct, Name string
}

// Tuple is "(X0, X1, ...)".
type Tuple []Expr

// Let is "let: Name := X in Body". With Second it destructures a pair: let2.
type Let struct {
	Name, Second string
	X, Body      Expr
}

// Seq is "X;; Body".
type Seq struct{ X, Body Expr }

// Then is "X;;; Body": Body runs only if X continues normally.
type Then struct{ X, Body Expr }

// If is "if: Cond then Yes else No".
type If struct{ Cond, Yes, No Expr }

// Lam is "λ: Params, Body". The parameters are binders: quoted names or <>.
type Lam struct {
	Params []string
	Body   Expr
}

// Return is "return: X".
type Return struct{ X Expr }

// Note is a comment before Body.
type Note struct {
	Text string
	Body Expr
}

func (Atom) expr()   {}
func (Raw) expr()    {}
func (App) expr()    {}
func (Infix) expr()  {}
func (Prefix) expr() {}
func (Not) expr()    {}
func (Field) expr()  {}
func (Tuple) expr()  {}
func (Let) expr()    {}
func (Seq) expr()    {}
func (Then) expr()   {}
func (If) expr()     {}
func (Lam) expr()    {}
func (Return) expr() {}
func (Note) expr()   {}

// Def is a definition of a file.
type Def struct {
	// Doc is a comment before it, without marks; Place says where it comes from.
	Doc, Place string
	Name       string
	// Type and Body are the definition; a function has Params and Value instead
	// of Body, and the name under which its body calls it if it is recursive.
	Type, Body string
	Params     []string
	Self       string
	Value      Expr
}

// File is a Coq file.
type File struct {
	// Header are the comments at the top, without marks.
	Header []string
	// Requires are sentences, one per line.
	Requires []string
	Defs     []Def
}

// Quote is the Coq string literal for s.
func Quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// Comment is s as a comment: marks within are taken apart, and quotes are made
// even, since Coq reads strings in comments.
func Comment(s string) string { return "(* " + harmless(s) + " *)" }

// DocComment is s as a comment that coqdoc shows.
func DocComment(s string) string { return "(** " + harmless(s) + " *)" }

func harmless(s string) string {
	// A mark may be made of what is left of others: "((**".
	for strings.Contains(s, "(*") || strings.Contains(s, "*)") {
		s = strings.NewReplacer("(*", "( *", "*)", "* )").Replace(s)
	}
	if strings.Count(s, `"`)%2 != 0 {
		s = strings.ReplaceAll(s, `"`, "''")
	}
	if strings.HasSuffix(s, "*") || strings.HasSuffix(s, "(") {
		s += " "
	}
	return strings.ToValidUTF8(s, "?")
}
