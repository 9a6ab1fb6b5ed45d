// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// Limits of a load.
const (
	// CommandsMax is the maximum number of commands of a profile.
	CommandsMax = 100_000
	// ClientsMax is the maximum number of commands in progress at once.
	ClientsMax = 10_000
	// LoadLinesMax is the maximum number of lines of a load.
	LoadLinesMax = 1000
	// ValueBytesMax is the maximum length of a value.
	ValueBytesMax = 1 << 20
)

// Load describes the commands that clients send. Each client sends its next command
// when the previous one is answered.
type Load struct {
	// Clients is the number of commands in progress at once, and Commands their total number.
	Clients, Commands int
	// Warm is how long the program runs before the first command.
	Warm time.Duration
	// Sends lists the facts of a command. Waits lists the facts of its answer, all of which must
	// arrive. Without Waits, a command ends when no message is in flight any more.
	Sends []Send
	Waits []Wait
	// Outside lists components that belong to the clients. They are not
	// rewritten, run on machines that are not counted, and are never the
	// bottleneck.
	Outside []string
	// Functions has the known costs of functions from Go.
	Functions map[string]Function
}

// Send is a fact of an input that is part of each command.
type Send struct {
	Input string
	Args  []Arg
	// Component and Instance identify the node that receives it. Instance -1 is all of them.
	Component string
	Instance  int
	Span      source.Span
}

// Wait is a fact of an output that belongs to the answer of a command.
type Wait struct {
	Output string
	Args   []Arg
	Span   source.Span
}

// Arg is a value of a fact of a load.
type Arg struct {
	Kind ArgKind
	// Num is the value of a number, the modulus of the command's number (0 for none), or the
	// number of bytes with which a number is written.
	Num  uint64
	Text string
}

// ArgKind is a kind of argument.
type ArgKind uint8

// The kinds.
const (
	AnyArg    ArgKind = iota // _
	NumberArg                // # or # % N: the command's number
	ConstArg                 // 5
	TextArg                  // "text"
	NodeArg                  // node "name"
	BoolArg                  // true, false
	ClientArg                // client: the node that asks
	BytesArg                 // bytes N: N bytes, different for each command
)

// Function describes the cost of a Go function.
type Function struct {
	// Micros is the cost of a call in microseconds. If it is negative, the calibration states it.
	Micros float64
	// Bytes is the length of the result, if it has one.
	Bytes int
}

// ParseLoad parses a load for a program; docs/lang/dedalus.md describes the form. It returns
// nil if there are errors.
func ParseLoad(f *source.File, p *logic.Program, diags *source.List) *Load {
	l := &Load{Clients: 16, Commands: 64, Functions: map[string]Function{}}
	lines := strings.Split(string(f.Text), "\n")
	r := &loadReader{file: f, program: p, diags: diags, load: l}
	at := 0
	for i, line := range lines {
		if i == LoadLinesMax {
			r.at, r.line = at, ""
			r.complain("", fmt.Sprintf("the load is too long: at most %d lines", LoadLinesMax), "")
			break
		}
		r.at, r.line = at, line
		at += len(line) + 1
		r.statement()
	}
	if len(l.Sends) == 0 && !diags.HasErrors() {
		r.at, r.line = 0, ""
		r.complain("", "the load defines no commands", "add what a command sends: 'send INPUT(...) to COMPONENT'")
	}
	if diags.HasErrors() {
		return nil
	}
	return l
}

// BadLoad: send nobodyReads(#) to leader
const BadLoad source.Code = "BadLoad"

// loadReader reads one line at a time.
type loadReader struct {
	file    *source.File
	program *logic.Program
	diags   *source.List
	load    *Load
	at      int // where the line begins
	line    string
	words   []word
	next    int
	bad     bool
}

type word struct {
	text string
	at   int
}

// complain reports the first error in a line.
func (r *loadReader) complain(text, message, repair string) {
	if r.bad {
		return
	}
	r.bad = true
	from, to := 0, len(r.line)
	if r.next > 0 && r.next <= len(r.words) && text != "" {
		from = r.words[r.next-1].at
		to = from + len(text)
	}
	d := source.Diagnostic{Severity: source.Error, Code: BadLoad, Message: message, Repair: repair}
	d.Span = r.place(from, to)
	r.diags.Add(d)
}

// split cuts a line into words: names, numbers, strings and signs.
func (r *loadReader) split() {
	r.words, r.next, r.bad = nil, 0, false
	s := r.line
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '/' && strings.HasPrefix(s[i:], "//"):
			return
		case c == '"':
			end := i + 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(s))
			r.words = append(r.words, word{s[i:end], i})
			i = end
		case isName(c):
			end := i
			for end < len(s) && (isName(s[end]) || s[end] == '.') {
				end++
			}
			r.words = append(r.words, word{s[i:end], i})
			i = end
		default:
			r.words = append(r.words, word{s[i : i+1], i})
			i++
		}
	}
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (r *loadReader) take() string {
	if r.next >= len(r.words) {
		r.next = len(r.words) + 1
		return ""
	}
	r.next++
	return r.words[r.next-1].text
}

func (r *loadReader) expect(want string) {
	if got := r.take(); got != want {
		r.complain(got, fmt.Sprintf("expected '%s'", want), "")
	}
}

func (r *loadReader) number(what string, most int) int {
	w := r.take()
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || n > most {
		r.complain(w, fmt.Sprintf("expected %s, from 1 to %d", what, most), "")
		return 1
	}
	return n
}

func (r *loadReader) statement() {
	r.split()
	if len(r.words) == 0 {
		return
	}
	switch w := r.take(); w {
	case "clients":
		r.load.Clients = r.number("the number of commands in progress at once", ClientsMax)
	case "commands":
		r.load.Commands = r.number("the number of commands", CommandsMax)
	case "warm":
		w := r.take()
		d, err := time.ParseDuration(w)
		if err != nil || d < 0 || d > time.Hour {
			r.complain(w, "expected a duration of at most an hour, such as 1s or 300ms", "")
		}
		r.load.Warm = d
	case "outside":
		w := r.take()
		if r.program.Component(w) == nil {
			r.complain(w, fmt.Sprintf("there is no component '%s'", w), "")
		}
		r.load.Outside = append(r.load.Outside, w)
	case "function":
		r.function()
	case "send":
		r.send()
	case "wait":
		r.wait()
	default:
		r.complain(w, fmt.Sprintf("'%s' is not a statement of a load", w), "the statements are clients, commands, warm, outside, function, send and wait")
	}
	if r.next < len(r.words) {
		w := r.take()
		r.complain(w, "expected the end of the line", "")
	}
}

func (r *loadReader) function() {
	name := r.take()
	if f := r.program.Function(name); f == nil || f.Import == "" {
		r.complain(name, fmt.Sprintf("this program imports no Go function '%s'", name), "")
	}
	out := Function{Micros: -1, Bytes: 32}
	for r.next < len(r.words) && !r.bad {
		switch w := r.take(); w {
		case "bytes":
			out.Bytes = r.number("the length of the result in bytes", ValueBytesMax)
		default:
			d, err := time.ParseDuration(w)
			if err != nil || d < 0 || d > time.Minute {
				r.complain(w, "expected the cost of a call, such as 1.5us, or 'bytes N'", "")
			}
			out.Micros = float64(d) / 1e3
		}
	}
	r.load.Functions[name] = out
}

func (r *loadReader) send() {
	s := Send{Span: r.span()}
	var rel *logic.Relation
	if s.Input, s.Args, rel = r.fact(logic.Input, "input"); rel == nil {
		return
	}
	for i, a := range s.Args {
		if a.Kind == AnyArg {
			r.complain("", fmt.Sprintf("column %s of %s needs a value", rel.Columns[i].Name, rel.Name), "")
		}
	}
	r.expect("to")
	s.Component = r.take()
	c := r.program.Component(s.Component)
	if c == nil {
		r.complain(s.Component, fmt.Sprintf("there is no component '%s'", s.Component), "")
		return
	}
	if r.next < len(r.words) {
		switch w := r.take(); w {
		case "each":
			s.Instance = -1
		case "/":
			w := r.take()
			n, err := strconv.Atoi(w)
			if err != nil || n < 0 || n >= c.Instances {
				r.complain(w, fmt.Sprintf("expected an instance of %s, from 0 to %d", c.Name, c.Instances-1), "")
			}
			s.Instance = n
		default:
			r.complain(w, "expected 'each', '/' and the number of an instance, or the end of the line", "")
		}
	}
	r.load.Sends = append(r.load.Sends, s)
}

func (r *loadReader) wait() {
	w := Wait{Span: r.span()}
	var rel *logic.Relation
	if w.Output, w.Args, rel = r.fact(logic.Output, "output"); rel == nil {
		return
	}
	r.load.Waits = append(r.load.Waits, w)
}

func (r *loadReader) span() source.Span {
	return r.place(0, len(r.line))
}

func (r *loadReader) place(from, to int) source.Span {
	return source.Span{File: r.file, Start: int32(r.at + from), End: int32(r.at + to)}
}

// fact parses a relation of a kind, with arguments.
func (r *loadReader) fact(kind logic.RelationKind, what string) (string, []Arg, *logic.Relation) {
	name := r.take()
	rel := r.program.Find(name)
	if rel == nil || rel.Kind != kind {
		r.complain(name, fmt.Sprintf("the program has no %s '%s'", what, name), "")
		return name, nil, nil
	}
	r.expect("(")
	var args []Arg
	for i := range rel.Columns {
		if i > 0 {
			r.expect(",")
		}
		args = append(args, r.arg(rel.Columns[i]))
	}
	r.expect(")")
	if r.bad {
		return name, nil, nil
	}
	return name, args, rel
}

// arg parses a value for a column.
func (r *loadReader) arg(c logic.Column) Arg {
	var a Arg
	types := []logic.TypeKind{c.Type.Kind}
	w := r.take()
	switch {
	case w == "_":
	case w == "#":
		a.Kind, types = NumberArg, []logic.TypeKind{logic.U64, logic.Int, logic.Text, logic.Bytes}
		if r.next < len(r.words) && r.words[r.next].text == "%" {
			r.take()
			a.Num = uint64(r.number("the number of different values", math.MaxInt32))
		}
	case w == "client":
		a.Kind, types = ClientArg, []logic.TypeKind{logic.Node}
	case w == "true" || w == "false":
		a.Kind, types = BoolArg, []logic.TypeKind{logic.Bool}
		if w == "true" {
			a.Num = 1
		}
	case w == "bytes":
		a.Kind, types = BytesArg, []logic.TypeKind{logic.Bytes, logic.Text}
		a.Num = uint64(r.number("a number of bytes", ValueBytesMax))
	case w == "node":
		a.Kind, types = NodeArg, []logic.TypeKind{logic.Node}
		a.Text = r.text()
	case strings.HasPrefix(w, `"`):
		r.next--
		a.Kind, types = TextArg, []logic.TypeKind{logic.Text, logic.Bytes}
		a.Text = r.text()
	default:
		n, err := strconv.ParseUint(w, 10, 64)
		if err != nil {
			r.complain(w, fmt.Sprintf("expected a value for column %s", c.Name), "write #, # % N, client, bytes N, a number, a quoted text, node \"NAME\", true or false; _ matches any value")
		}
		a.Kind, a.Num, types = ConstArg, n, []logic.TypeKind{logic.U64, logic.Int}
	}
	for _, t := range types {
		if t == c.Type.Kind {
			return a
		}
	}
	r.complain(w, fmt.Sprintf("column %s is of type %v", c.Name, c.Type), "")
	return a
}

func (r *loadReader) text() string {
	w := r.take()
	s, err := strconv.Unquote(w)
	if err != nil {
		r.complain(w, "expected a quoted text", "")
	}
	return s
}

// value returns the argument of command number n, for a column of this type.
func (a Arg) value(t logic.TypeKind, n uint64, client string) logic.Value {
	v := logic.Value{Kind: t, Num: a.Num, Str: a.Text}
	switch a.Kind {
	case ClientArg:
		return logic.Value{Kind: t, Str: client}
	case NumberArg, BytesArg:
		key := n
		if a.Kind == NumberArg && a.Num > 0 {
			key = n % a.Num
		}
		v.Num, v.Str = key, ""
		if t == logic.Text || t == logic.Bytes {
			v.Num, v.Str = 0, strconv.FormatUint(key, 10)
			if a.Kind == BytesArg && len(v.Str) < int(a.Num) {
				v.Str = strings.Repeat("0", int(a.Num)-len(v.Str)) + v.Str
			}
		}
	}
	return v
}

// matches reports whether a row belongs to the answer of command n.
func (w Wait) matches(row []logic.Value, n uint64, client string) bool {
	for i, a := range w.Args {
		if a.Kind != AnyArg && a.value(row[i].Kind, n, client).Compare(row[i]) != 0 {
			return false
		}
	}
	return true
}

// DefaultLoad returns a load for a program that has none: a command is a fact of each input,
// sent to the first instance of the component that reads it, with the command's number in
// every column. It is complete when no message is in flight. DefaultLoad returns nil if the
// program has no inputs.
func DefaultLoad(p *logic.Program) *Load {
	l := &Load{Clients: 16, Commands: 64, Functions: map[string]Function{}}
	for _, c := range p.Components {
		for _, rel := range p.In(c) {
			if rel.Kind != logic.Input {
				continue
			}
			s := Send{Input: rel.Name, Component: c.Name}
			for _, col := range rel.Columns {
				a := Arg{Kind: NumberArg}
				switch col.Type.Kind {
				case logic.Node:
					a.Kind = ClientArg
				case logic.Bool:
					a = Arg{Kind: BoolArg, Num: 1}
				case logic.Bytes:
					a = Arg{Kind: BytesArg, Num: 16}
				}
				s.Args = append(s.Args, a)
			}
			l.Sends = append(l.Sends, s)
		}
	}
	if len(l.Sends) == 0 {
		return nil
	}
	return l
}
