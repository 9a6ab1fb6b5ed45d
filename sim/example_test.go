// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// Two nodes, a packet, and a partition: what a test of a protocol is made of.
func Example() {
	w, err := sim.New(sim.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	heard := 0
	listener := w.Node("listener", func(l *sim.Life) error {
		_, err := l.Env.Packets.Bind(":1", func(env.Addr, []byte) { heard++ })
		return err
	})
	speaker := w.Node("speaker", func(l *sim.Life) error {
		p, err := l.Env.Packets.Bind(":1", func(env.Addr, []byte) {})
		if err != nil {
			return err
		}
		var speak env.WakeFunc
		speak = func() {
			p.Send("listener:1", []byte("hello"))
			l.Env.Clock.After(time.Second, speak)
		}
		speak()
		return nil
	})
	w.Invariant("patience", func() error {
		if heard > 6 {
			return fmt.Errorf("heard it %d times", heard)
		}
		return nil
	})
	w.After(2500*time.Millisecond, func() {
		w.Partition([]*sim.Node{listener}, []*sim.Node{speaker}, false)
	})
	fmt.Println(w.Run(10*time.Second), heard)
	w.Heal()
	fmt.Println(w.Run(10 * time.Second))
	// Output:
	// <nil> 3
	// patience: seed 1, event 23, at 13.000808205s: heard it 7 times
}

// Every state in which a crash at the end can leave a file, on a disk that
// changes no order.
func ExampleDisk_Clone() {
	d := sim.NewDisk()
	f, err := d.Open("f", true)
	if err == nil {
		err = d.SyncDir(".")
	}
	for _, part := range []string{"one", "two", "three"} {
		if err == nil {
			err = f.Append([]byte(part))
		}
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := d.Ops() - uint64(d.Unsynced()); n <= d.Ops(); n++ {
		c := d.Clone()
		c.Crash(sim.KeepUpTo(n))
		g, err := c.Open("f", false)
		if err != nil {
			fmt.Println(err)
			return
		}
		b := make([]byte, 20)
		k, _ := g.ReadAt(b, 0)
		fmt.Printf("%q\n", b[:k])
	}
	// Output:
	// ""
	// "one"
	// "onetwo"
	// "onetwothree"
}
