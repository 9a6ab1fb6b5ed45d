// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"fmt"
	"strings"
)

// Where states are named by less than their words, the program has a method
//
//	Key(cur, name []uint64) (ok bool)
//
// which does what Images.Least or Machine.View does. What permutations do is
// printed as expressions, word by word; an image that is larger than the least
// one so far in its first words is not made to its end.

// key prints Key, and gives the number of bytes of a name: 0 where states are
// named by themselves.
func (w *printer) key(out *strings.Builder, l *Lowered, images *Images) (bytes int) {
	switch {
	case l.view != nil:
		w.viewKey(out, l)
		return l.view.layout.bytes
	case images != nil && len(images.perms) > 0:
		w.imageKey(out, images)
		return l.layout.bytes
	}
	return 0
}

func (w *printer) viewKey(out *strings.Builder, l *Lowered) {
	var b strings.Builder
	for _, p := range l.view.parts {
		fmt.Fprintf(&b, "\tname[%d] |= uint64(%s-%s)&%#x<<%d\n", p.f.word, w.num(p.a), number(p.low), p.f.mask(), p.f.shift)
	}
	fmt.Fprintf(out, "func (x *st) Key(cur, name []uint64) (ok bool) {\n\tx.c, x.stop = [%d]uint64(cur), false\n\tx.now++\n\tclear(name)\n\tname[0] = 1\n%s\treturn !x.stop\n}\n\n",
		l.layout.words, b.String())
}

func (w *printer) imageKey(out *strings.Builder, images *Images) {
	fmt.Fprintf(out, "func (x *st) Key(cur, name []uint64) (ok bool) {\n\tc, least := (*[%[1]d]uint64)(cur), (*[%[1]d]uint64)(name)\n\t*least = *c\n", images.words)
	tables := make(map[string]string)
	for i := range images.perms {
		fmt.Fprintf(out, "\t%s(c, least)\n", w.image(&images.perms[i], images.words, tables))
	}
	out.WriteString("\treturn true\n}\n\n")
}

// image prints a function that makes one image of c, and puts it into least
// where it is less. Tables has the names of tables by what is in them.
func (w *printer) image(p *image, words int, tables map[string]string) (name string) {
	terms, later := make([][]string, words), make([]strings.Builder, words)
	for _, m := range p.moves {
		term := fmt.Sprintf("c[%d]&%#x<<%d", m.from, m.mask, m.shift)
		if m.shift < 0 {
			term = fmt.Sprintf("c[%d]&%#x>>%d", m.from, m.mask, -m.shift)
		}
		terms[m.to] = append(terms[m.to], term)
	}
	get := func(f field) string { return fmt.Sprintf("c[%d]>>%d&%#x", f.word, f.shift, f.mask()) }
	for _, r := range p.renames {
		term := fmt.Sprintf("%s[%s]<<%d", w.renaming(r.tab, tables), get(r.from), r.to.shift)
		if r.inSeq {
			fmt.Fprintf(&later[r.to.word], "if %s > %d {\no%d |= %s\n}\n", get(r.length), r.at, r.to.word, term)
		} else {
			terms[r.to.word] = append(terms[r.to.word], term)
		}
	}
	name = w.name("image")
	var b strings.Builder
	b.WriteString("less := false\n")
	for k := range words {
		if len(terms[k]) == 0 {
			terms[k] = []string{"uint64(0)"}
		}
		fmt.Fprintf(&b, "o%d := %s\n%s", k, strings.Join(terms[k], " | "), later[k].String())
		fmt.Fprintf(&b, "if !less && o%[1]d > least[%[1]d] {\nreturn\n}\nless = less || o%[1]d < least[%[1]d]\n", k)
	}
	b.WriteString("if less {\n")
	for k := range words {
		fmt.Fprintf(&b, "least[%[1]d] = o%[1]d\n", k)
	}
	fmt.Fprintf(&w.funcs, "func %[1]s(c, least *[%[2]d]uint64) {\n%[3]s}\n}\n\n", name, words, b.String())
	return name
}

// renaming prints a table of numbers, once.
func (w *printer) renaming(tab []uint64, tables map[string]string) string {
	text := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(tab)), ", "), "[]")
	name, ok := tables[text]
	if !ok {
		name = w.name("t")
		tables[text] = name
		fmt.Fprintf(&w.tables, "var %s = [...]uint64{%s}\n\n", name, text)
	}
	return name
}
