// Package drawn draws Dedalus programs at random, for tests that hold what is made of
// programs against them.
//
// In: a source of randomness. Out: the text of a program, which need not be one: what is drawn
// may not be stratified, and its facts may contradict what it declares of them.
//
// A program has a component a that is taken apart; a front, which passes on what comes from
// outside; and an echo, which answers a. In a there is whatever may go wrong: static facts and
// what follows from them, negation and aggregates of these, relations that merge, index,
// rules of the first ticks, tables that one input or another fills and that other state
// empties, messages to a itself and to its like, timers, numbers of two types, and
// dependencies that may be lies.
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

// comes is something that comes in, holds something that is derived.
func (d draw) comes() string { return d.of("put", "put", "law", "back", "again") }
func (d draw) holds() string { return d.of(tables...) }
func (d draw) any() string {
	if d.one(2) {
		return d.comes()
	}
	return d.holds()
}

// fixed is a static relation of two columns.
func (d draw) fixed() string { return d.of("keys", "keys", "link") }

// want is a literal that asks for the want of something.
func (d draw) want(rel string) string {
	return "not " + rel + d.of("(k, v)", "(k, _)", "(k, _)", "(_, _)")
}

// body is one that binds k and v.
func (d draw) body() string {
	b := d.any() + "(k, v)"
	switch env.IntN(d.r, 9) {
	case 0:
		return b + ", " + d.want(d.any())
	case 1:
		return b + ", " + d.any() + d.of("(k, _)", "(k, v)", "(_, v)")
	case 2:
		return d.fixed() + "(k, v)"
	case 3:
		return d.fixed() + "(k, v), " + d.want(d.any())
	case 4:
		return b + ", v < 2"
	}
	return b
}

// motif is a few rules that belong together.
func (d draw) motif() []string {
	t, out := d.holds(), d.of("one", "two")
	tell := func(body string) string {
		return "async " + out + "@node \"c\"(k, v) <- " + body
	}
	carry := "next " + t + "(k, v) <- " + t + "(k, v)"
	feed := d.of("sync ", "next ") + t + "(k, v) <- "
	switch env.IntN(d.r, 26) {
	case 0: // a table that something empties
		g := d.holds()
		return []string{feed + d.comes() + "(k, v)", carry + ", " + d.want(g), "next " + g + "(k, v) <- " + t + "(k, v)", tell(t + "(k, v), " + d.comes() + "(k, _)")}
	case 1: // what all have from the first tick on
		return []string{"next " + t + "(k, v) <- " + d.fixed() + "(k, v)", carry, tell(d.comes() + "(k, v), " + d.want(t))}
	case 2: // of what all have, what is not there
		return []string{d.of("sync ", "next ") + t + "(k, v) <- " + d.fixed() + "(k, v), " + d.want(d.holds()), tell(t + "(k, v)" + d.of("", ", "+d.want(d.any())))}
	case 3: // numbers
		return []string{d.of("sync c(v, index<v>) <- ", "sync c(k, index<k>) <- ", "sync c(k, index<v>) <- ") + t + "(k, v)", tell("c(k, v)"), feed + d.comes() + "(k, v)", carry}
	case 4: // aggregates
		return []string{"sync c(k, " + d.of("count", "sum", "max", "min") + "<v>) <- " + d.of(t, d.fixed()) + "(k, v)", tell("c(k, v)" + d.of("", ", v >= 2", ", "+d.comes()+"(k, _)"))}
	case 5: // one count of all
		return []string{"sync n(count<k>) <- " + t + "(k, _)", feed + d.comes() + "(k, v)", carry, "sync n(0) <- " + d.comes() + "(_, _), not " + t + "(_, _)",
			"async sum@f(k, v) <- " + d.comes() + "(k, _), n(v), front(f)"}
	case 6: // two inputs fill a table, and one of them is asked for
		return []string{"next " + t + "(k, v) <- put(k, v)", "next " + t + "(k, v) <- law(k, v)", carry, "sync top(max<v>) <- law(_, v)", "next reign(v) <- top(v)", tell("back(k, _), reign(v)")}
	case 7, 16, 17: // two types
		return []string{"next z(k, v) <- zed(k, v)", "next z(k, v) <- z(k, v)", feed + "put(k, v)", carry, tell(t + "(1, k), z(1, v)")}
	case 8, 18, 19: // by way of a static relation
		return []string{feed + "put(k, v)", carry, tell(fmt.Sprintf("link(x, y), link(x, z1), %s(y, k), %s(z1, v)", t, t))}
	case 20, 21, 22, 23: // the time that an answer takes
		return d.ages(t, out)
	case 24, 25: // what is told twice, of what may merge
		return []string{"sync m(k, v) <- put(k, v)", "next m(k, v) <- m(k, v)", tell("m(k, v)"), tell("m(k, v), v < 9")}
	case 9: // out, and back by way of the echo
		return []string{"async say@e(k, v) <- " + d.comes() + "(k, v), echo(e)", tell("back(k, v), " + d.of(d.want(t), t+"(k, _)"))}
	case 10:
		return []string{"async again@self(k, v) <- " + d.of("put", "law", "back") + "(k, v)" + d.of("", ", "+d.want(t)), tell("again(k, v)")}
	case 11: // what it has is told on and on, and kept apart
		return []string{feed + d.comes() + "(k, v)", carry, tell(t + "(k, v)"), tell(t + "(k, v)" + d.of("", ", v < 2"))}
	case 12:
		return []string{tell(t + "(k, v), clock()"), feed + d.comes() + "(k, v)", carry + d.of("", ", "+d.want(d.comes()))}
	case 13: // a chain
		u := d.holds()
		return []string{"next " + t + "(k, v) <- " + d.comes() + "(k, v)", "next " + u + "(k, v) <- " + t + "(k, v)", tell(u + "(k, v), " + d.any() + "(k, _)")}
	case 14: // thresholds
		return []string{"sync many(count<k>, max<v>) <- " + t + "(k, v)", feed + d.comes() + "(k, v)", carry, "async " + out + "@node \"c\"(k, k) <- keys(k, _), many(" + d.of("x, _), x >= 2", "x, _), x >= k", "x, x)", "_, x), x > 1")}
	}
	return []string{tell(d.body()), d.of("sync ", "next ") + t + "(k, v) <- " + d.body()}
}

// ages are something that is there for a while after a message, and something that has
// gone to the echo and back, and perhaps once more, and meets it.
func (d draw) ages(t, out string) []string {
	u := d.of("s", "w")
	rules := []string{"async say@e(k, v) <- put(k, v), echo(e)", "async more@e(k, v) <- back(k, v), echo(e)"}
	switch env.IntN(d.r, 5) {
	case 0: // for a tick
		rules = append(rules, "next "+t+"(k, v) <- put(k, v)")
	case 1: // for the tick after that
		rules = append(rules, "next h(k, v) <- put(k, v)", "next "+t+"(k, v) <- h(k, v)")
	case 2: // until other state comes of it
		rules = append(rules, "sync "+t+"(k, v) <- put(k, v)", "next "+t+"(k, v) <- "+t+"(k, v), not h(k, _)", "next h(k, v) <- "+t+"(k, v)", "next h(k, v) <- h(k, v)")
	case 3: // until an answer comes, or for ever
		rules = append(rules, d.of("sync ", "next ")+t+"(k, v) <- put(k, v)", "next "+t+"(k, v) <- "+t+"(k, v)"+d.of("", ", not ret(k, _)"))
	default: // from the first tick on, asked for by its want
		rules = append(rules, "next "+t+"(k, v) <- keys(k, v)", "next "+t+"(k, v) <- "+t+"(k, v)")
		return append(rules, "async "+out+"@node \"c\"(k, v) <- "+d.of("back", "ret")+"(k, v), not "+t+d.of("(_, _)", "(k, _)"))
	}
	switch env.IntN(d.r, 3) {
	case 0: // what came back is kept for a tick
		return append(rules, "next "+u+"(k, v) <- "+d.of("back", "ret")+"(k, v)", "async "+out+"@node \"c\"(k, v) <- "+t+"(k, v), "+u+"(k, _)")
	case 1:
		return append(rules, "async "+out+"@node \"c\"(k, v) <- "+t+"(k, v), back(k, _)")
	}
	return append(rules, "async "+out+"@node \"c\"(k, v) <- "+t+"(k, v), ret(k, _)")
}

// facts are a few, of small numbers.
func (d draw) facts() string {
	var out []string
	for range 1 + env.IntN(d.r, 3) {
		out = append(out, fmt.Sprintf("(%d, %d)", env.IntN(d.r, 3), env.IntN(d.r, 3)))
	}
	return "{ " + strings.Join(out, ", ") + " }"
}

// Program draws a program.
func Program(r env.Random) string {
	d := draw{r}
	var rules []string
	for range []int{1, 1, 1, 1, 2, 2, 3}[env.IntN(r, 7)] {
		rules = append(rules, d.motif()...)
	}
	text := strings.Join(rules, "\n  ")
	has := func(rel, before string) bool { return strings.Contains(text, before+rel+"(") }
	for _, t := range tables {
		if has(t, " ") && !has(t, "sync ") && !has(t, "next ") {
			rules = append(rules, d.of("sync ", "next ")+t+"(k, v) <- "+d.comes()+"(k, v)")
			text = strings.Join(rules, "\n  ")
		}
	}
	if has("again", " ") && !has("again@self", "async ") {
		rules = append(rules, "async again@self(k, v) <- put(k, v)")
	}
	if has("back", " ") && !strings.Contains(text, "say@") {
		rules = append(rules, "async say@e(k, v) <- "+d.of("put", "law")+"(k, v), echo(e)")
	}
	text = strings.Join(rules, "\n  ")
	declare := ""
	if has("m", " ") {
		declare = "  var m(k: u64, v: " + d.of("max<u64>", "max<u64>", "min<u64>") + ")\n"
	}
	again := ""
	if strings.Contains(text, "say@") {
		again = "  async back@n(k, v) <- say(k, v), home(n)\n"
	}
	if strings.Contains(text, "more@") {
		again += "  async ret@n(k, v) <- more(k, v), home(n)\n"
	}
	fd := d.of("", " fd k -> v")
	inputs := "  input goput(k: u64, v: u64)\n  async put@t(k, v) <- goput(k, v), to(t)\n"
	if has("law", " ") {
		inputs += "  input golaw(k: u64, v: u64)\n  async law@t(k, v) <- golaw(k, v), to(t)\n"
	}
	if has("zed", " ") {
		inputs += "  input gozed(k: int, v: u64)\n  async zed@t(k, v) <- gozed(k, v), to(t)\n"
	}
	if strings.Contains(text, "sum@") {
		inputs += "  output total(k: u64, n: u64)\n  async total@node \"c\"(k, n) <- sum(k, n)\n"
	}
	return "program drawn\ncomponent a {\n  static keys(k: u64, v: u64) = " + d.facts() + "\n  static link(k: u64, v: u64) = " + d.facts() + fd +
		"\n  static echo(e: node) = nodes echo\n  static front(f: node) = nodes front\n  static like(n: node) = nodes a\n  timer clock every 1s\n" +
		"  output one(k: u64, v: u64)\n  output two(k: u64, v: u64)\n" + declare + "  " + text +
		"\n}\ncomponent echo {\n  static home(n: node) = nodes a\n" + again + "}\n" +
		"component front {\n  static to(n: node) = nodes a\n" + inputs + "}\ndeploy { a: " + d.of("1", "1", "1", "2") + ", echo: 1, front: 1 }\n"
}
