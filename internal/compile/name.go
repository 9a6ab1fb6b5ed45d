// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"go/token"
	"strconv"
	"strings"
	"unicode"
)

// symbolNames gives the spelling of operator symbols in Go names.
var symbolNames = map[rune]string{
	'+': "Plus", '-': "Minus", '*': "Times", '/': "Slash", '\\': "", '<': "Less", '>': "Greater", '=': "Equals", '|': "Bar", '&': "And",
	'^': "Hat", '%': "Mod", '#': "Hash", '$': "Dollar", '?': "Query", '!': "_", '.': "Dot", ':': "Colon", '@': "At", '(': "", ')': "", '~': "Tilde",
}

// reserved are the names that generated code must not declare: Go's predeclared
// names, imported packages and receivers.
const reserved = `any append bool byte cap clear close comparable complex complex64 complex128 copy delete error false float32 float64
imag int int8 int16 int32 int64 iota len make max min new nil panic print println real recover rune string true
uint uint8 uint16 uint32 uint64 uintptr distsys value typed stdlib resource osenv sync context errors flag fmt os signal strings syscall time
main init run nodeOf places err tx s c Constants NewConstants System _`

// goName converts a name of the specification to a Go identifier.
func goName(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch name, symbol := symbolNames[r]; {
		case symbol:
			b.WriteString(name)
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	name := b.String()
	if name == "" || unicode.IsDigit([]rune(name)[0]) {
		name = "n" + name
	}
	if strings.Trim(name, "_") == "" {
		name = "x" + name
	}
	return name
}

func upperFirst(s string) string {
	r := []rune(strings.TrimLeft(s, "_"))
	if len(r) == 0 || !unicode.IsLetter(r[0]) {
		return "X" + s
	}
	r[0] = unicode.ToUpper(r[0])
	if !unicode.IsUpper(r[0]) { // a letter without cases
		return "X" + string(r)
	}
	return string(r)
}

func lowerFirst(s string) string {
	r := []rune(s)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}

// names allocates Go names that do not collide with others in scope.
type names struct {
	used   map[string]bool
	around *names
	// inner contains every name allocated in nested scopes. Code in them may
	// later refer to a new name of this scope, which their names must not
	// shadow.
	inner map[string]bool
}

func newNames(around *names) *names {
	n := &names{used: map[string]bool{}, inner: map[string]bool{}, around: around}
	if around == nil {
		for _, s := range strings.Fields(reserved) {
			n.used[s] = true
		}
	}
	return n
}

func (n *names) taken(s string) bool {
	if token.IsKeyword(s) || n.inner[s] {
		return true
	}
	for m := n; m != nil; m = m.around {
		if m.used[s] {
			return true
		}
	}
	return false
}

// fresh returns want, with a suffix if that name is taken.
func (n *names) fresh(want string) string {
	name := goName(want)
	if token.IsKeyword(name) || strings.Contains(" "+strings.Join(strings.Fields(reserved), " ")+" ", " "+name+" ") {
		name += "_"
	}
	base := name
	for i := 2; n.taken(name); i++ {
		name = base + strconv.Itoa(i)
	}
	n.used[name] = true
	for m := n.around; m != nil; m = m.around {
		m.inner[name] = true
	}
	return name
}
