// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tree is a value of a specification, parsed from its JSON, so that two states
// can be compared part by part.
type tree struct {
	kind treeKind
	text string // of a leaf, in TLA+
	keys []string
	// elems are the elements of a tuple or a set, or the values of a function
	// or record by its keys (in TLA+ for a function).
	elems []*tree
}

type treeKind uint8

const (
	leaf treeKind = iota
	tupleTree
	setTree
	recordTree
	functionTree
)

// parseTree parses the JSON of a value. It preserves the order of a record's
// fields.
func parseTree(text string) (*tree, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return readTree(d)
}

func readTree(d *json.Decoder) (*tree, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Number:
		return &tree{text: v.String()}, nil
	case bool:
		return &tree{text: strings.ToUpper(strconv.FormatBool(v))}, nil
	case string:
		return &tree{text: quote(v)}, nil
	case nil:
		return &tree{text: "null"}, nil
	case json.Delim:
		if v == '[' {
			t := &tree{kind: tupleTree}
			for d.More() {
				e, err := readTree(d)
				if err != nil {
					return nil, err
				}
				t.elems = append(t.elems, e)
			}
			_, err := d.Token()
			return t, err
		}
		return readObject(d)
	}
	return nil, fmt.Errorf("unexpected %v in a value", token)
}

// readObject reads a record, or one of the forms {"#...": ...}.
func readObject(d *json.Decoder) (*tree, error) {
	t := &tree{kind: recordTree}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		e, err := readTree(d)
		if err != nil {
			return nil, err
		}
		t.keys = append(t.keys, fmt.Sprint(key))
		t.elems = append(t.elems, e)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if len(t.keys) != 1 {
		return t, nil
	}
	switch inner := t.elems[0]; t.keys[0] {
	case "#model", "#text":
		text, err := strconv.Unquote(inner.text)
		return &tree{text: text}, err
	case "#set":
		return &tree{kind: setTree, elems: inner.elems}, nil
	case "#map":
		f := &tree{kind: functionTree}
		for _, pair := range inner.elems {
			if len(pair.elems) != 2 {
				return nil, fmt.Errorf("a function's entry has %d parts", len(pair.elems))
			}
			f.keys = append(f.keys, pair.elems[0].String())
			f.elems = append(f.elems, pair.elems[1])
		}
		return f, nil
	}
	return t, nil
}

// quote writes a string as TLA+ does.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\f", `\f`).Replace(s) + `"`
}

// String writes the value in TLA+.
func (t *tree) String() string {
	switch t.kind {
	case tupleTree:
		return "<<" + join(t.elems) + ">>"
	case setTree:
		return "{" + join(t.elems) + "}"
	case recordTree, functionTree:
		parts := make([]string, len(t.keys))
		record := t.kind == recordTree && !slices.ContainsFunc(t.keys, func(k string) bool { return !isField(k) })
		for i, k := range t.keys {
			switch {
			case record:
				parts[i] = k + " |-> " + t.elems[i].String()
			case t.kind == recordTree:
				parts[i] = quote(k) + " :> " + t.elems[i].String()
			default:
				parts[i] = k + " :> " + t.elems[i].String()
			}
		}
		if record {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "(" + strings.Join(parts, " @@ ") + ")"
	}
	return t.text
}

// isField reports whether a string is a valid field name. A string that is not is
// formatted like any other argument of a function.
func isField(s string) bool {
	letters := false
	for _, c := range s {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
		letters = letters || c > '9' && c != '_'
	}
	return letters
}

func join(ts []*tree) string {
	parts := make([]string, len(ts))
	for i, t := range ts {
		parts[i] = t.String()
	}
	return strings.Join(parts, ", ")
}

// change is a part of a state that differs from the previous state.
type change struct {
	// Path is the location of the part: "x", "pc[p1]", "r.field".
	Path string `json:"path"`
	// Was and Now are values in TLA+; Was is empty for a part that is new.
	Was string `json:"was,omitempty"`
	Now string `json:"now,omitempty"`
	// Gained and Lost are the elements that a set gained or lost. Appended and
	// Dropped are those that a sequence gained at its end or lost at its front.
	// If any of these is set, Was and Now are empty.
	Gained   []string `json:"gained,omitempty"`
	Lost     []string `json:"lost,omitempty"`
	Appended []string `json:"appended,omitempty"`
	Dropped  []string `json:"dropped,omitempty"`
}

// differences lists the parts of now that differ from was. It descends as long
// as both have the same structure.
func differences(path string, was, now *tree) []change {
	if was.String() == now.String() {
		return nil
	}
	whole := []change{{Path: path, Was: was.String(), Now: now.String()}}
	if was.kind != now.kind {
		return whole
	}
	switch was.kind {
	case setTree:
		c := change{Path: path, Gained: without(now.elems, was.elems), Lost: without(was.elems, now.elems)}
		if len(c.Gained) < len(now.elems) || len(c.Lost) < len(was.elems) {
			return []change{c}
		}
	case tupleTree:
		return tupleDifferences(path, was, now)
	case recordTree, functionTree:
		return partDifferences(path, was, now)
	}
	return whole
}

// without lists the elements of a that are not in b.
func without(a, b []*tree) []string {
	in := map[string]bool{}
	for _, e := range b {
		in[e.String()] = true
	}
	var out []string
	for _, e := range a {
		if s := e.String(); !in[s] {
			out = append(out, s)
		}
	}
	return out
}

func tupleDifferences(path string, was, now *tree) []change {
	a, b := was.elems, now.elems
	if len(a) == len(b) {
		var out []change
		for i := range a {
			out = append(out, differences(fmt.Sprintf("%s[%d]", path, i+1), a[i], b[i])...)
		}
		return out
	}
	same := func(a, b []*tree) bool { return join(a) == join(b) }
	switch {
	case len(a) > 0 && len(a) < len(b) && same(a, b[:len(a)]):
		return []change{{Path: path, Appended: texts(b[len(a):])}}
	case len(b) > 0 && len(b) < len(a) && same(a[len(a)-len(b):], b):
		return []change{{Path: path, Dropped: texts(a[:len(a)-len(b)])}}
	}
	return []change{{Path: path, Was: was.String(), Now: now.String()}}
}

func texts(ts []*tree) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.String()
	}
	return out
}

// partDifferences compares records and functions key by key, unless the two
// have nothing in common.
func partDifferences(path string, was, now *tree) []change {
	at := func(key string) string {
		if now.kind == recordTree && isField(key) {
			return path + "." + key
		} else if now.kind == recordTree {
			return path + "[" + quote(key) + "]"
		}
		return path + "[" + key + "]"
	}
	old := map[string]*tree{}
	for i, k := range was.keys {
		old[k] = was.elems[i]
	}
	var out []change
	kept := 0
	for i, k := range now.keys {
		before, ok := old[k]
		if !ok {
			out = append(out, change{Path: at(k), Now: now.elems[i].String()})
			continue
		}
		kept++
		delete(old, k)
		out = append(out, differences(at(k), before, now.elems[i])...)
	}
	for _, k := range was.keys {
		if gone, ok := old[k]; ok {
			out = append(out, change{Path: at(k), Was: gone.String()})
		}
	}
	if kept == 0 {
		return []change{{Path: path, Was: was.String(), Now: now.String()}}
	}
	return out
}

// String formats the change for people.
func (c change) String() string {
	var parts []string
	for _, p := range []struct {
		verb  string
		elems []string
	}{{"gained", c.Gained}, {"lost", c.Lost}, {"appended", c.Appended}, {"dropped from its front", c.Dropped}} {
		if len(p.elems) > 0 {
			parts = append(parts, p.verb+" "+strings.Join(p.elems, ", "))
		}
	}
	switch {
	case len(parts) > 0:
		return c.Path + " " + strings.Join(parts, " and ")
	case c.Now == "":
		return c.Path + " is gone"
	}
	return c.Path + " = " + c.Now
}
