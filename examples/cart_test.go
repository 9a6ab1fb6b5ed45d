// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// clocks applies f to the clock of every item in one part of a cart.
func clocks(c value.Value, part string, f func(item, clock value.Value) value.Value) value.Value {
	of := c.Field(part)
	for _, i := range of.Domain().Elems() {
		of = of.ExceptIndex(i, f(i, of.Apply(i)))
	}
	return c.ExceptField(part, of)
}

func join(a, b value.Value) value.Value {
	for _, n := range a.Domain().Elems() {
		a = a.ExceptIndex(n, value.Int(max(a.Apply(n).AsInt(), b.Apply(n).AsInt())))
	}
	return a
}

func merge(a, b value.Value) value.Value {
	for _, part := range []string{"added", "removed"} {
		a = clocks(a, part, func(i, clock value.Value) value.Value { return join(clock, b.Field(part).Apply(i)) })
	}
	return a
}

// items are those with an add that no remove has seen.
func items(c value.Value) value.Value {
	var in []value.Value
	for _, i := range c.Field("added").Domain().Elems() {
		add, remove := c.Field("added").Apply(i), c.Field("removed").Apply(i)
		for _, n := range add.Domain().Elems() {
			if add.Apply(n).AsInt() > remove.Apply(n).AsInt() {
				in = append(in, i)
				break
			}
		}
	}
	return value.SetOf(in)
}

// observedRemove is a node's replica as its user sees it: it reads as a set
// of items and is written with steps.
func observedRemove(node value.Value) cell {
	return cell{
		read: func(_ *distsys.Tx, now value.Value) (value.Value, value.Value, error) { return items(now), now, nil },
		write: func(_ *distsys.Tx, now, step value.Value) (value.Value, error) {
			part := map[string]string{"add": "added", "remove": "removed"}[step.Field("op").AsString()]
			item := step.Field("item")
			seen := join(now.Field("added").Apply(item), now.Field("removed").Apply(item))
			seen = seen.ExceptIndex(node, value.Int(seen.Apply(node).AsInt()+1))
			return now.ExceptField(part, now.Field(part).ExceptIndex(item, seen)), nil
		},
	}
}

func TestCart(t *testing.T) {
	given := constants{"Nodes": `{"ann", "bob"}`, "Items": `{"tea", "jam"}`, "Budget": "200"}
	values := given.values()
	nodes := []string{"ann", "bob"}
	scripts := map[string]string{
		"ann": `<<[op |-> "add", item |-> "tea"], [op |-> "remove", item |-> "tea"]>>`,
		"bob": `<<[op |-> "add", item |-> "tea"], [op |-> "add", item |-> "jam"]>>`,
	}
	values["Scripts"] = tla(fmt.Sprintf(`[ann |-> %s, bob |-> %s]`, scripts["ann"], scripts["bob"]))
	zero := `[ann |-> 0, bob |-> 0]`
	empty := tla(fmt.Sprintf(`[added |-> [tea |-> %[1]s, jam |-> %[1]s], removed |-> [tea |-> %[1]s, jam |-> %[1]s]]`, zero))
	w := newWorld(t, system(t, "cart", values))
	carts, links := map[string]*local.Shared{}, map[string]*local.Shared{}
	for _, n := range nodes {
		carts[value.String(n).String()] = local.NewShared(empty)
		links[value.String(n).String()] = local.NewShared(value.EmptySet())
	}
	asUser := local.NewMap(func(n value.Value) (distsys.Resource, error) {
		like := observedRemove(n)
		like.Shared = carts[n.String()]
		return &like, nil
	})
	asReplica := indexed(carts, func(v *local.Shared) distsys.Resource {
		return &cell{Shared: v, write: func(_ *distsys.Tx, now, other value.Value) (value.Value, error) { return merge(now, other), nil }}
	})
	net := indexed(links, func(v *local.Shared) distsys.Resource {
		return &cell{Shared: v,
			// What was read may stay, for a while.
			read: func(tx *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
				m, err := tx.ChooseFrom(now)
				if err != nil {
					return now, now, err
				}
				stays, err := tx.Choose(2)
				if stays == 1 {
					return m, now, err
				}
				return m, value.Remove(now, m), err
			},
			// A slow network: who has sent waits until it has arrived.
			write: func(_ *distsys.Tx, now, m value.Value) (value.Value, error) {
				if !value.IsEmpty(now) {
					return now, distsys.ErrBlocked
				}
				return value.Insert(now, m), nil
			},
		}
	})
	for _, n := range nodes {
		w.spawn("ANode", tla(fmt.Sprintf(`<<%q, "user">>`, n)), map[string]value.Value{"script": tla(scripts[n])},
			map[string]distsys.Resource{"cart": asUser})
		w.spawn("AGossip", tla(fmt.Sprintf(`<<%q, "gossip">>`, n)),
			map[string]value.Value{"me": value.String(n), "budget": value.Int(200)},
			map[string]distsys.Resource{"replica": asReplica, "net": net})
	}
	everywhere := func() bool {
		all := empty
		for _, v := range carts {
			all = merge(all, v.Value())
		}
		for _, v := range carts {
			if !value.Equal(v.Value(), all) {
				return false
			}
		}
		// ann has changed tea twice, bob has changed tea and jam.
		return all.Field("removed").Field("tea").Field("ann").AsInt() > 0 && all.Field("added").Field("jam").Field("bob").AsInt() > 0
	}
	sections := w.run(everywhere)
	for n, v := range carts {
		if got := items(v.Value()).String(); got != `{"jam"}` && got != `{"jam", "tea"}` {
			t.Errorf("%s has %s in the cart", n, got)
		}
	}
	if sections < 10 {
		t.Errorf("%d sections: too few to have told each other", sections)
	}
	w.explained(given, "CONSTANT Scripts <- Shop")
}
