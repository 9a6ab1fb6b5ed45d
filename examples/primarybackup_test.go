// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

const (
	storeReplicas = 3
	storeClients  = 2
)

// store is the world of the primary-backup store: a network whose messages
// overtake each other, with a switch at every end, and a perfect failure
// detector.
type store struct {
	ends map[string]*local.Shared // of the network
	dead map[string]*local.Shared
	data map[string]*local.Shared
}

func newStore() *store {
	s := &store{ends: map[string]*local.Shared{}, dead: map[string]*local.Shared{}, data: map[string]*local.Shared{}}
	for n := 1; n <= storeReplicas+storeClients; n++ {
		s.ends[fmt.Sprint(n)] = local.NewShared(tla(`[queue |-> {}, up |-> TRUE]`))
		s.dead[fmt.Sprint(n)] = local.NewShared(value.Bool(false))
	}
	for n := 1; n <= storeReplicas; n++ {
		for _, key := range []string{"x", "y"} {
			s.data[fmt.Sprintf("<<%d, %q>>", n, key)] = local.NewShared(value.String("none"))
		}
	}
	return s
}

// indexed is a resource for each index, made of the variable there.
func indexed(at map[string]*local.Shared, like func(*local.Shared) distsys.Resource) distsys.Resource {
	return local.NewMap(func(i value.Value) (distsys.Resource, error) {
		if v := at[i.String()]; v != nil {
			return like(v), nil
		}
		return nil, fmt.Errorf("there is no %s", i)
	})
}

func plain(v *local.Shared) distsys.Resource { return v }

func link(v *local.Shared) distsys.Resource {
	return &cell{Shared: v,
		read: func(tx *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
			if !now.Field("up").IsTrue() {
				return now, now, distsys.ErrBlocked
			}
			m, err := tx.ChooseFrom(now.Field("queue"))
			if err != nil {
				return now, now, err
			}
			return m, now.ExceptField("queue", value.Remove(now.Field("queue"), m)), nil
		},
		write: func(_ *distsys.Tx, now, m value.Value) (value.Value, error) {
			if !now.Field("up").IsTrue() {
				return now, distsys.ErrBlocked
			}
			return now.ExceptField("queue", value.Insert(now.Field("queue"), m)), nil
		}}
}

func power(v *local.Shared) distsys.Resource {
	return &cell{Shared: v,
		read: func(_ *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
			return now.Field("up"), now, nil
		},
		write: func(_ *distsys.Tx, now, up value.Value) (value.Value, error) {
			return now.ExceptField("queue", value.EmptySet()).ExceptField("up", up), nil
		}}
}

// lowest is the first replica that is alive.
type lowest struct{ s *store }

func (l lowest) Read(tx *distsys.Tx, _ []value.Value) (value.Value, error) {
	for n := int32(1); n <= storeReplicas; n++ {
		dead, err := l.s.dead[fmt.Sprint(n)].Read(tx, nil)
		if err != nil || !dead.IsTrue() {
			return value.Int(n), err
		}
	}
	return value.Int(0), nil
}

func (lowest) Write(*distsys.Tx, []value.Value, value.Value) error {
	return fmt.Errorf("nobody makes a primary")
}
func (lowest) PreCommit(*distsys.Tx) error { return nil }

func (l lowest) Commit(tx *distsys.Tx) {
	for _, d := range l.s.dead {
		d.Commit(tx)
	}
}

func (l lowest) Abort(tx *distsys.Tx) {
	for _, d := range l.s.dead {
		d.Abort(tx)
	}
}

func TestPrimaryBackup(t *testing.T) {
	for _, crashes := range []int32{0, 1, 2} {
		t.Run(fmt.Sprintf("%d crashes", crashes), func(t *testing.T) {
			given := constants{
				"NumReplicas": fmt.Sprint(storeReplicas), "Keys": `{"x", "y"}`, "ExploreFail": "TRUE", "MaxCrashes": fmt.Sprint(crashes),
			}
			script := []string{
				`<<[op |-> "put", key |-> "x", value |-> "a"], [op |-> "get", key |-> "x"], [op |-> "put", key |-> "x", value |-> "b"], [op |-> "get", key |-> "x"]>>`,
				`<<[op |-> "put", key |-> "y", value |-> "c"], [op |-> "put", key |-> "y", value |-> "d"], [op |-> "get", key |-> "y"]>>`,
			}
			values := given.values()
			values["Scripts"] = tla("<<" + script[0] + ", " + script[1] + ">>")
			w, s := newWorld(t, system(t, "primarybackup", values)), newStore()
			budget := local.NewShared(value.Int(crashes))
			answers := map[string]*local.Shared{"4": local.NewShared(value.String("none")), "5": local.NewShared(value.String("none"))}
			net, dead := indexed(s.ends, link), indexed(s.dead, plain)
			for n := int32(1); n <= storeReplicas; n++ {
				w.spawn("AReplica", value.Int(n), nil, map[string]distsys.Resource{"net": net, "up": indexed(s.ends, power), "fd": dead,
					"primary": lowest{s}, "store": indexed(s.data, plain), "crashes": budget})
			}
			for i, text := range script {
				w.spawn("AClient", value.Int(int32(storeReplicas+1+i)), map[string]value.Value{"script": tla(text)},
					map[string]distsys.Resource{"net": net, "fd": dead, "primary": lowest{s}, "seen": indexed(answers, plain)})
			}
			w.run(func() bool {
				return answers["4"].Value().AsString() == "b" && answers["5"].Value().AsString() == "d"
			})
			for n := 1; n <= storeReplicas; n++ {
				if s.dead[fmt.Sprint(n)].Value().IsTrue() {
					continue
				}
				for key, want := range map[string]string{"x": "b", "y": "d"} {
					if got := s.data[fmt.Sprintf("<<%d, %q>>", n, key)].Value().AsString(); got != want {
						t.Errorf("replica %d has %s for %s: want %s", n, got, key, want)
					}
				}
			}
			w.explained(given, "CONSTANT defaultInitValue = defaultInitValue", "CONSTANT Scripts <- Busy")
		})
	}
}
