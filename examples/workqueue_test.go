// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestWorkQueue(t *testing.T) {
	given := constants{"NumProducers": "3", "NumConsumers": "2", "JobsEach": "20", "Capacity": "2", "LinkSize": "2", "Tasks": `{"cut", "dig"}`}
	w := newWorld(t, system(t, "workqueue", given.values()))
	network := links(2)
	task := &cell{Shared: local.NewShared(given.values()["Tasks"]),
		read: func(tx *distsys.Tx, tasks value.Value) (value.Value, value.Value, error) {
			v, err := tx.ChooseFrom(tasks)
			return v, tasks, err
		}}
	finished := &cell{Shared: local.NewShared(tla("{}")),
		write: func(_ *distsys.Tx, now, v value.Value) (value.Value, error) {
			return value.Union(now, value.Set(v)), nil
		}}
	for p := int32(1); p <= 3; p++ {
		w.spawn("AProducer", value.Int(p), map[string]value.Value{"quota": value.Int(20)},
			map[string]distsys.Resource{"net": network, "world": task})
	}
	w.spawn("ABroker", value.Int(0), map[string]value.Value{"producers": value.Int(3), "capacity": value.Int(2)},
		map[string]distsys.Resource{"net": network})
	for p := int32(4); p <= 5; p++ {
		w.spawn("AConsumer", value.Int(p), nil, map[string]distsys.Resource{"net": network, "done": finished})
	}
	sections := w.run(nil)

	seen := map[string]bool{}
	for _, job := range finished.Value().Elems() {
		seen[value.Tuple(job.Field("by"), job.Field("nr")).String()] = true
	}
	if len(seen) != 60 || len(finished.Value().Elems()) != 60 {
		t.Errorf("%d jobs by %d names are done: want 60 by 60", len(finished.Value().Elems()), len(seen))
	}
	if sections < 400 {
		t.Errorf("%d sections: too few to have done the work", sections)
	}
	w.explained(given, "CONSTANT defaultInitValue = defaultInitValue")
}
