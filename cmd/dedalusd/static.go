// SPDX-License-Identifier: Apache-2.0

package dedalusd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
)

// statics converts the facts in a deployment to rows.
func statics(p *rt.Program, facts map[string][][]any) (map[string][][]byte, error) {
	out := map[string][][]byte{}
	for name, rows := range facts {
		i := slices.IndexFunc(p.Static, func(r rt.Relation) bool { return r.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the program has no static relation %s", name)
		}
		columns := p.Static[i].Columns
		for _, row := range rows {
			if len(row) != len(columns) {
				return nil, fmt.Errorf("a fact of %s has %d columns; want %d", name, len(row), len(columns))
			}
			values := make([]rt.Value, len(row))
			for k, x := range row {
				var err error
				if values[k], err = value(columns[k].Type, x); err != nil {
					return nil, fmt.Errorf("a fact of %s: column %s: %w", name, columns[k].Name, err)
				}
			}
			b, err := rt.AppendRow(nil, columns, values)
			if err != nil {
				return nil, fmt.Errorf("a fact of %s: %w", name, err)
			}
			out[name] = append(out[name], b)
		}
	}
	return out, nil
}

// value converts a JSON value to a value of the program.
func value(t rt.Type, x any) (v rt.Value, err error) {
	switch t.Kind {
	case rt.KindU64, rt.KindInt:
		n, ok := x.(json.Number)
		if !ok {
			return v, fmt.Errorf("%v; want a number", x)
		}
		if t.Kind == rt.KindU64 {
			v.Num, err = strconv.ParseUint(n.String(), 10, 64)
			return v, err
		}
		i, err := strconv.ParseInt(n.String(), 10, 64)
		return rt.Value{Num: uint64(i)}, err
	case rt.KindBool:
		b, ok := x.(bool)
		if !ok {
			return v, fmt.Errorf("%v; want true or false", x)
		}
		if b {
			v.Num = 1
		}
	case rt.KindText, rt.KindBytes, rt.KindNode:
		s, ok := x.(string)
		if !ok {
			return v, fmt.Errorf("%v; want a string", x)
		}
		v.Str = s
	case rt.KindSet:
		l, ok := x.([]any)
		if !ok || t.Elem == nil {
			return v, fmt.Errorf("%v; want a list", x)
		}
		for _, e := range l {
			w, err := value(*t.Elem, e)
			if err != nil {
				return v, err
			}
			v.Set = append(v.Set, w)
		}
		cmp := func(a, b rt.Value) int { return a.Compare(b, *t.Elem) }
		slices.SortFunc(v.Set, cmp)
		v.Set = slices.CompactFunc(v.Set, func(a, b rt.Value) bool { return cmp(a, b) == 0 })
	default:
		return v, fmt.Errorf("a type of kind %d", t.Kind)
	}
	return v, nil
}
