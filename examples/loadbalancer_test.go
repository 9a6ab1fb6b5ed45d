// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestLoadBalancer(t *testing.T) {
	const rounds = 25
	given := constants{"Servers": "{s1, s2, s3}", "Clients": `{"ann", "bob", "cy"}`, "Files": `{"index", "about"}`, "Rounds": "25", "MaxOpen": "2"}
	w := newWorld(t, system(t, "loadbalancer", given.values()))
	network := links(16)
	pages := map[string]*local.Shared{}
	for _, server := range []string{"s1", "s2", "s3"} {
		for _, file := range []string{"index", "about"} {
			at := value.Tuple(value.Model(server), value.String(file))
			pages[at.String()] = local.NewShared(tla(`[file |-> "` + file + `", text |-> "page"]`))
		}
	}
	wish := &cell{Shared: local.NewShared(tla(given["Files"])),
		read: func(tx *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
			f, err := tx.ChooseFrom(now)
			return f, now, err
		}}
	balancer := value.String("balancer")
	w.spawn("ABalancer", balancer, map[string]value.Value{"servers": tla(given["Servers"])}, map[string]distsys.Resource{"net": network})
	for _, s := range tla(given["Servers"]).Elems() {
		w.spawn("AServer", s, nil, map[string]distsys.Resource{"net": network, "files": indexed(pages, plain)})
	}
	clients := tla(given["Clients"]).Elems()
	for _, client := range clients {
		w.spawn("AClient", client, map[string]value.Value{"rounds": value.Int(rounds)}, map[string]distsys.Resource{"net": network, "wish": wish})
	}
	served := w.procs[len(w.procs)-len(clients):]
	sections := w.run(func() bool {
		for _, p := range served {
			// A client loops once more to find that it is done.
			if p.Metrics().Commits < 2*rounds+1 {
				return false
			}
		}
		return true
	})
	if want := len(clients)*rounds*6 + len(clients); sections < want {
		t.Errorf("%d sections, want at least %d: six for every page, and the last look at the counter", sections, want)
	}
	w.explained(given, "CONSTANT defaultInitValue = defaultInitValue")
}
