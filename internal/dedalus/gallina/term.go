// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"strconv"
	"strings"
)

// term is a term of Coq, which is written in two ways: as Coq reads it, and as the checker does
// that is extracted from Coq (proofs/extract/certifier.ml), which has brackets and words only.
type term struct {
	form  form
	text  string // of words, texts and numbers
	items []term
}

type form uint8

const (
	apply   form = iota // a constructor, the first of the items, and its arguments
	items               // a list
	pair                // two items
	word                // a name
	quoted              // a string
	number              // of type N
	natural             // of type nat
)

func name(s string) term { return term{form: word, text: s} }

// text is a string of bytes.
func text(s string) term { return term{form: quoted, text: s} }

func nat(n int) term { return term{form: natural, text: strconv.Itoa(n)} }

func call(f string, args ...term) term {
	return term{form: apply, items: append([]term{name(f)}, args...)}
}

func both(a, b term) term { return term{form: pair, items: []term{a, b}} }

func list[T any](of []T, write func(T) term) term {
	out := term{form: items}
	for _, x := range of {
		out.items = append(out.items, write(x))
	}
	return out
}

func (t term) String() string {
	var b strings.Builder
	t.coq(&b)
	return b.String()
}

// coq writes a term for Coq. A string of Coq doubles quotes and has no escapes.
func (t term) coq(b *strings.Builder) {
	begin, between, end := "(", " ", ")"
	switch t.form {
	case word, number:
		b.WriteString(t.text)
		return
	case natural:
		b.WriteString(t.text + "%nat")
		return
	case quoted:
		b.WriteString(`"` + strings.ReplaceAll(t.text, `"`, `""`) + `"`)
		return
	case items:
		begin, between, end = "[", "; ", "]"
	case pair:
		between = ", "
	}
	t.join(b, begin, between, end, term.coq)
}

// plain writes a term for the extracted checker: a pair is a list of two, and a string doubles
// quotes as well. It writes no more once there is more than TextMax.
func (t term) plain(b *strings.Builder) {
	if b.Len() > TextMax {
		return
	}
	switch t.form {
	case word, number, natural:
		b.WriteString(t.text)
	case quoted:
		b.WriteString(`"` + strings.ReplaceAll(t.text, `"`, `""`) + `"`)
	case apply:
		t.join(b, "(", " ", ")", term.plain)
	default:
		t.join(b, "[", " ", "]", term.plain)
	}
}

func (t term) join(b *strings.Builder, begin, between, end string, write func(term, *strings.Builder)) {
	b.WriteString(begin)
	for i, x := range t.items {
		if i > 0 {
			b.WriteString(between)
		}
		write(x, b)
	}
	b.WriteString(end)
}
