// SPDX-License-Identifier: Apache-2.0

// Package drawn generates random Dedalus programs, for tests that compare the output
// of rewrites and compilers with them.
//
// In: a source of randomness. Out: the text of a program, which may be invalid: it may not be
// stratified, and its facts may contradict its declarations.
//
// A program has a component a that is taken apart; a front, which passes on what comes from
// outside; and an echo, which answers a. In a there are one or two shapes, each a few rules
// that belong together, of which every part is drawn: tables that one message or another, or a
// static relation, fills, and that something empties; what has it meets what lacks it; joins by
// way of a static relation or a function; numbers of two types; numbering, groups, and counts of
// all that somebody asks for; columns that merge; what goes to the echo and back, once and twice,
// and meets what was left behind meanwhile; messages to a itself; timers; and what a disk keeps;
// and, in programs of their own, what a derives and others send to it.
// Values are few, so that they meet, and relations are shared, so that shapes meet.
//
// It knows nothing of rewrites and of their conditions.
package drawn

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// draw draws parts of a program.
type draw struct{ r env.Random }

func (d draw) of(list ...string) string { return list[env.IntN(d.r, len(list))] }
func (d draw) one(in int) bool          { return env.IntN(d.r, in) == 0 }

// tables are relations that rules of a derive, all of two columns; m merges in the second.
var tables = []string{"p", "q", "r", "m"}

// comes is something that comes in, holds something that is derived, and fixed what is static.
func (d draw) comes() string { return d.of("put", "put", "put", "law", "back", "again") }
func (d draw) holds() string { return d.of(tables...) }
func (d draw) fixed() string { return d.of("keys", "keys", "link") }

// two are two tables, which may be one.
func (d draw) two() (string, string) {
	t := d.holds()
	if d.one(8) {
		return t, t
	}
	for {
		if u := d.holds(); u != t {
			return t, u
		}
	}
}

// args are those of a literal that is of key k, mostly.
func (d draw) args() string { return d.of("(k, v)", "(k, _)", "(k, _)", "(_, _)") }

// want is a literal that asks for the want of something, has for the thing.
func (d draw) want(rel string) string { return "not " + rel + d.args() }
func (d draw) has(rel string) string  { return rel + d.of("(k, v)", "(k, _)", "(_, v)") }
func (d draw) either(rel string) string {
	if d.one(2) {
		return d.has(rel)
	}
	return d.want(rel)
}

// tell sends to a client.
func (d draw) tell(body string) string {
	return "async " + d.of("one", "two") + "@node \"c\"(k, v) <- " + body
}

// later is when something is derived.
func (d draw) later() string { return d.of("sync ", "sync ", "next ", "next ", "next ", "log ") }

// table are the rules of a table: what fills it, and that it is carried on, mostly forever.
func (d draw) table(t string, from ...string) []string {
	var out []string
	for _, body := range from {
		out = append(out, d.later()+t+"(k, v) <- "+body)
	}
	carry := "next " + t + "(k, v) <- " + t + "(k, v)"
	switch env.IntN(d.r, 18) {
	case 0:
		return append(out, carry+", "+d.want(d.comes()))
	case 1:
		return append(out, carry+", "+d.want(d.holds()))
	case 2: // it is forgotten when other state has come of it
		u := d.holds()
		return append(out, carry+", "+d.want(u), "next "+u+"(k, v) <- "+t+"(k, v)", "next "+u+"(k, v) <- "+u+"(k, v)")
	case 3:
		return out
	}
	return append(out, carry)
}

// shapes are how often each is drawn.
var shapes = []struct {
	often int
	draw  func(d draw) []string
}{
	{4, draw.race}, {2, draw.numbers}, {1, draw.groups}, {5, draw.counts}, {3, draw.types}, {9, draw.join},
	{9, draw.ages}, {3, draw.merging}, {2, draw.trips}, {2, draw.timer}, {2, draw.any},
}

func (d draw) shape() []string {
	all := 0
	for _, s := range shapes {
		all += s.often
	}
	n := env.IntN(d.r, all)
	for _, s := range shapes {
		if n -= s.often; n < 0 {
			return s.draw(d)
		}
	}
	return nil
}

// race: what static facts give meets what comes in, or the want of it.
func (d draw) race() []string {
	t, u := d.two()
	source, from := d.comes(), d.fixed()+"(k, v)"
	if d.one(4) {
		from += ", " + d.either(d.of(u, source))
	}
	out := append(d.table(t, from), d.table(u, source+"(k, v)")...)
	for range 2 {
		x, y := d.of(t, u, source), d.of(t, u)
		out = append(out, d.tell(x+"(k, v), "+d.either(y)))
	}
	return out
}

// numbers: facts are numbered.
func (d draw) numbers() []string {
	t := d.holds()
	out := d.table(t, d.comes()+"(k, v)")
	if d.one(3) {
		return append(out, "sync g(k, v, index<v>) <- "+t+"(k, v)", d.tell("g(_, k, v)"))
	}
	return append(out, "sync c("+d.of("v, index<v>", "k, index<k>")+") <- "+t+"(k, v)", d.tell("c(k, v)"))
}

// groups: an aggregate for each key.
func (d draw) groups() []string {
	t := d.holds()
	return append(d.table(t, d.comes()+"(k, v)"), "sync c(k, "+d.of("count", "sum", "max", "min")+"<v>) <- "+d.of(t, t, d.fixed())+"(k, v)",
		d.tell("c(k, v)"+d.of("", ", v >= 2", ", "+d.comes()+"(k, _)")))
}

// counts: a client asks for the total, and is answered through the front component; and what
// was asked last.
func (d draw) counts() []string {
	t, ask := d.of("p", "q", "r"), d.of("law", "law", "law", "put")
	var from []string
	for _, source := range []string{"put(k, v)", "law(k, v)", "keys(k, v)"} {
		if d.one(2) {
			from = append(from, source)
		}
	}
	if from == nil {
		from = append(from, d.comes()+"(k, v)")
	}
	carry := "next " + t + "(k, v) <- " + t + "(k, v)"
	var out []string
	for _, body := range from {
		out = append(out, d.of("sync ", "next ", "next ")+t+"(k, v) <- "+body)
	}
	out = append(out, carry, "sync n(count<k>) <- "+t+"(k, _)", "sync n(0) <- "+ask+"(_, _), not "+t+"(_, _)",
		"async sum@f(k, v) <- "+ask+"(k, _), n(v), front(f)")
	if d.one(3) {
		out = append(out, d.tell(ask+"(k, v), "+d.either(t)))
	}
	return out
}

// types: two tables whose keys are numbers of two types, at one key.
func (d draw) types() []string {
	t := d.holds()
	key := d.of("0", "1", "2")
	return append(d.table(t, "put(k, v)"), "next z(k, v) <- zed(k, v)", "next z(k, v) <- z(k, v)", d.tell(fmt.Sprintf("%s(%s, k), z(%s, v)", t, key, key)))
}

// join: two tables meet by way of a static relation, or of a function.
func (d draw) join() []string {
	t, u := d.of("p", "q", "r"), d.of("p", "q", "r")
	from, to := d.of("put(k, v)", "put(k, v)", "put(v, k)"), d.of("law(k, v)", "law(k, v)", "law(v, k)", d.comes()+"(k, v)")
	out := d.table(t, from)
	if u != t {
		out = append(out, d.table(u, to)...)
	}
	way := d.of("link(x, y), link(x, z)", "link(x, y), link(x, z)", "link(x, y), link(x, z)", "link(y, z)", "way(y, z)", "way(y, z)", "way(y, z)", "z := hash(y), way(_, y)", "keys(y, z)")
	return append(out, d.tell(fmt.Sprintf("%s, %s(y, k), %s(z, v)", way, t, u)))
}

// ages: something is there for a while after a message, and something that has gone to the echo
// and back, and perhaps once more, meets it.
func (d draw) ages() []string {
	t, u := d.of("p", "q", "r"), d.of("s", "w")
	out := []string{"async say@e(k, v) <- put(k, v), echo(e)", "async more@e(k, v) <- back(k, v), echo(e)"}
	comes := d.of("back", "ret", "ret")
	switch env.IntN(d.r, 6) {
	case 0: // for a tick
		out = append(out, "next "+t+"(k, v) <- put(k, v)")
	case 1: // for the tick after that
		out = append(out, "next h(k, v) <- put(k, v)", "next "+t+"(k, v) <- h(k, v)")
	case 2, 3: // until other state comes of it
		out = append(out, d.of("sync ", "next ")+t+"(k, v) <- put(k, v)", "next "+t+"(k, v) <- "+t+"(k, v), "+d.of("not h(k, _)", "not h(k, v)", "not h(_, _)"),
			"next h(k, v) <- "+t+"(k, v)", "next h(k, v) <- h(k, v)")
	case 4: // until an answer comes, or for ever
		out = append(out, d.of("sync ", "next ")+t+"(k, v) <- put(k, v)", "next "+t+"(k, v) <- "+t+"(k, v)"+d.of("", ", not ret(k, _)"))
	default: // from the first tick on, asked for by its want
		out = append(out, "next "+t+"(k, v) <- keys(k, v)", "next "+t+"(k, v) <- "+t+"(k, v)")
		return append(out, d.tell(comes+"(k, v), not "+t+d.of("(_, _)", "(k, _)")))
	}
	if d.one(2) { // what came back is kept for a tick
		return append(out, "next "+u+"(k, v) <- "+comes+"(k, v)", d.tell(t+"(k, v), "+u+"(k, _)"))
	}
	return append(out, d.tell(t+"(k, v), "+comes+"(k, _)"))
}

// merging: what merges is sent, and sent again.
func (d draw) merging() []string {
	out := []string{d.later() + "m(k, v) <- " + d.of("put", "put", d.comes()) + "(k, v)"}
	if d.one(3) {
		out = append(out, "next m(k, v) <- m(k, v)")
	}
	for range 2 {
		out = append(out, d.tell("m(k, v)"+d.of("", "", ", v < 2", ", "+d.either(d.holds()))))
	}
	return out
}

// trips: to the echo and back, and to a itself.
func (d draw) trips() []string {
	t := d.holds()
	if d.one(2) {
		return append(d.table(t, "put(k, v)"), "async say@e(k, v) <- "+d.comes()+"(k, v), echo(e)", d.tell("back(k, v), "+d.either(t)))
	}
	return append(d.table(t, d.comes()+"(k, v)"), "async again@"+d.of("self", "l")+"(k, v) <- "+d.of("put", "law", "back")+"(k, v), like(l)"+d.of("", ", "+d.want(t)), d.tell("again(k, v), "+d.either(t)))
}

// timer: what there is, is told when a timer runs out.
func (d draw) timer() []string {
	t := d.holds()
	return append(d.table(t, d.comes()+"(k, v)"), d.tell(t+"(k, v), clock()"))
}

// any: anything.
func (d draw) any() []string {
	t, u := d.two()
	body := d.of(d.comes(), u) + "(k, v)" + d.of("", "", ", "+d.either(u), ", "+d.either(d.comes()), ", v < 2")
	return append(d.table(t, body), d.tell(t+"(k, v)"+d.of("", ", "+d.either(d.comes()))), d.tell(d.of(d.comes(), u)+"(k, v), "+d.either(t)))
}

// facts are a few, of small numbers, of which the first is one of so many.
func (d draw) facts(of int) string {
	var out []string
	for range 1 + env.IntN(d.r, 3) {
		out = append(out, fmt.Sprintf("(%d, %d)", env.IntN(d.r, of), env.IntN(d.r, 3)))
	}
	return "{ " + strings.Join(out, ", ") + " }"
}

// few is how many first values a static relation has: there are more of a kind in link.
func (d draw) few(static string) int {
	if static == "link" {
		return 2
	}
	return 3
}

// sent: a table that rules of a derive is also sent to it, by the front or, where a has asked, by
// the echo; what idle ticks change may meet it, or its want, and what comes in; or only its want is told, so
// that no other rule is a reason to refuse the step.
func (d draw) sent() (rules []string, front, echo string) {
	t, u := "p", d.of("q", "r")
	rules = []string{d.of("sync ", "sync ", "next ") + t + "(k, v) <- " + d.of("keys(k, v)", "keys(k, v)", d.comes()+"(k, v)")}
	if d.one(4) {
		rules = append(rules, "next "+t+"(k, v) <- "+t+"(k, v)")
	}
	rules = append(rules, d.table(u, d.of("keys(k, v)", "keys(k, v)", t+"(k, v)", d.comes()+"(k, v)"))...)
	if d.one(3) {
		rules = append(rules, d.tell("keys(k, v), not "+t+"(k, _)"))
	} else {
		rules = append(rules, d.tell(t+"(k, v), "+d.of("not "+u+"(k, _)", d.either(u), d.has(d.comes()))))
	}
	if d.one(3) {
		rules = append(rules, d.tell(d.comes()+"(k, v), "+d.either(u)))
	}
	if d.one(3) {
		return rules, "  async " + t + "@t(k, v) <- goput(k, v), to(t)\n", ""
	}
	return append(rules, "async say@e(k, v) <- put(k, v), echo(e)"), "", "  async " + t + "@n(k, v) <- say(k, v), home(n)\n"
}

// Program draws a program in which no component sends a the facts that a
// derives.
func Program(r env.Random) string {
	d := draw{r}
	rules := d.shape()
	if d.one(5) {
		rules = append(rules, d.shape()...)
	}
	return d.program(rules, "", "")
}

// Sending draws a program in which a derives something that others also send to it.
func Sending(r env.Random) string {
	d := draw{r}
	return d.program(d.sent())
}

// program is the program of some rules of a, and of what the front and the echo send besides.
func (d draw) program(rules []string, front, echo string) string {
	has := func(rel, before string) bool { return strings.Contains(strings.Join(rules, "\n  "), before+rel+"(") }
	// What is read is filled.
	for range tables {
		for _, t := range tables {
			if has(t, " ") && !has(t, "sync ") && !has(t, "next ") && !has(t, "log ") {
				rules = append(rules, d.table(t, d.comes()+"(k, v)")...)
			}
		}
	}
	if has("again", " ") && !has("again@self", "async ") && !has("again@l", "async ") {
		rules = append(rules, "async again@self(k, v) <- put(k, v)")
	}
	if has("back", " ") && !has("say@e", "async ") {
		rules = append(rules, "async say@e(k, v) <- "+d.of("put", "law")+"(k, v), echo(e)")
	}
	declare := ""
	for _, t := range tables {
		kind, column := "var ", "u64"
		if has(t, "log ") {
			kind = "durable "
			for i := range rules { // a disk takes a tick
				rules[i] = strings.Replace(rules[i], "sync "+t+"(", "next "+t+"(", 1)
			}
		}
		if t == "m" {
			column = d.of("max<u64>", "max<u64>", "min<u64>")
		}
		if has(t, " ") {
			declare += "  " + kind + t + "(k: u64, v: " + column + ")\n"
		}
	}
	// A static relation may be called as a function is.
	way := d.of("way", "hash")
	text := strings.ReplaceAll(strings.Join(rules, "\n  "), "way(", way+"(")
	again := ""
	if strings.Contains(text, "say@") {
		again = "  async back@n(k, v) <- say(k, v), home(n)\n"
	}
	if strings.Contains(text, "more@") {
		again += "  async ret@n(k, v) <- more(k, v), home(n)\n"
	}
	again += echo
	// What comes by way of the front may come again, what a client sends comes once.
	inputs, direct := "  input goput(k: u64, v: u64)\n  async put@t(k, v) <- goput(k, v), to(t)\n", ""
	if front == "" && (d.one(12) || has("more@e", "async ") && !d.one(3)) {
		inputs, direct = "", "  input put(k: u64, v: u64)\n"
	}
	if has("law", " ") {
		inputs += "  input golaw(k: u64, v: u64)\n  async law@t(k, v) <- golaw(k, v), to(t)\n"
	}
	if has("zed", " ") {
		inputs += "  input gozed(k: int, v: u64)\n  async zed@t(k, v) <- gozed(k, v), to(t)\n"
	}
	if strings.Contains(text, "sum@") {
		inputs += "  output total(k: u64, n: u64)\n  async total@node \"c\"(k, n) <- sum(k, n)\n"
	}
	static := ""
	for _, s := range []string{"keys", "link", way} {
		if strings.Contains(text, " "+s+"(") {
			static += "  static " + s + "(k: u64, v: u64) = " + d.facts(d.few(s)) + d.of("", " fd k -> v", " fd k -> v") + "\n"
		}
	}
	return "program drawn\ncomponent a {\n" + static + "  static echo(e: node) = nodes echo\n  static front(f: node) = nodes front\n  static like(n: node) = nodes a\n  timer clock every 1s\n" +
		"  output one(k: u64, v: u64)\n  output two(k: u64, v: u64)\n" + direct + declare + "  " + text +
		"\n}\ncomponent echo {\n  static home(n: node) = nodes a\n" + again + "}\n" +
		"component front {\n  static to(n: node) = nodes a\n" + inputs + front + "}\ndeploy { a: " + d.of("1", "1", "1", "1", "2") + ", echo: 1, front: 1 }\n"
}
