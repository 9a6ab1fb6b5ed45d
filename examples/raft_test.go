// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestRaft runs the eighteen processes of three servers until all of them have
// committed what the clients want.
func TestRaft(t *testing.T) {
	given := constants{"NumServers": "3", "Restless": "{1, 2}", "MaxTerm": "4", "MaxCrashes": "0", "Lossy": "FALSE"}
	values := given.values()
	values["Commands"] = tla(`<<"a">>`)
	w := newWorld(t, system(t, "raft", values))
	servers := tla("1..3")
	each := func(v string) map[string]*local.Shared {
		out := map[string]*local.Shared{}
		for _, s := range servers.Elems() {
			out[s.String()] = local.NewShared(tla(v))
		}
		return out
	}
	commits, logs := each("0"), each("<<>>")
	wishes := &cell{Shared: local.NewShared(values["Commands"]),
		read: func(_ *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
			if now.Len() == 0 {
				return now, now, distsys.ErrBlocked
			}
			return value.Head(now), value.Tail(now), nil
		}}
	refs := map[string]distsys.Resource{
		"term": indexed(each("1"), plain), "role": indexed(each(`"follower"`), plain), "vote": indexed(each("0"), plain),
		"log": indexed(logs, plain), "commit": indexed(commits, plain), "votes": indexed(each("{}"), plain),
		"match": indexed(each("<<0, 0, 0>>"), plain), "up": indexed(each("TRUE"), plain),
		"wishes": wishes, "quiet": local.NewConstant(value.Bool(true)),
		"net": indexed(each("{}"), func(v *local.Shared) distsys.Resource {
			return &cell{Shared: v,
				read: func(tx *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
					m, err := tx.ChooseFrom(now)
					if err != nil {
						return now, now, err
					}
					return m, value.Remove(now, m), nil
				},
				write: func(_ *distsys.Tx, now, m value.Value) (value.Value, error) { return value.Insert(now, m), nil },
			}
		}),
	}
	for _, s := range servers.Elems() {
		for archetype, role := range map[string]string{"AHandler": "handler", "ATimer": "timer", "ACanvasser": "canvasser",
			"ASender": "sender", "ACommitter": "committer", "AIntake": "intake"} {
			template, err := w.sys.Template(archetype)
			if err != nil {
				t.Fatal(err)
			}
			own := map[string]distsys.Resource{}
			for _, p := range template.Params {
				if p.Ref {
					own[p.Name] = refs[p.Name]
				}
			}
			w.spawn(archetype, value.Tuple(value.String(role), s), map[string]value.Value{"me": s}, own)
		}
	}
	w.run(func() bool {
		for _, n := range commits {
			if n.Value().AsInt() == 0 {
				return false
			}
		}
		return true
	})
	for s, log := range logs {
		if got := log.Value(); got.Len() != 1 || got.Index(1).Field("cmd").AsString() != "a" {
			t.Errorf("server %s has the log %s", s, got)
		}
	}
	w.explained(given, "CONSTANT Commands <- OneCommand")
}
