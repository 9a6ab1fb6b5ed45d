// SPDX-License-Identifier: Apache-2.0

package durable_test

import (
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/durable"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// A node keeps what an instance has changed, and the next life finds it. Nodes do
// this by themselves: see resource.Options.Data.
func ExampleLog() {
	if err := lives(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// life 1 finds nothing
	// life 2 finds sum = 5, as section 3 of life 1 left it
}

func lives() error {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return err
	}
	defer disk.Close()
	tasks := osenv.NewTasks()
	defer tasks.Close()
	o := durable.Options{Env: osenv.New(), Tasks: tasks, Dir: "journal", System: "restart", Node: "server"}
	o.Env.Disk = disk
	if err := durable.Format(o); err != nil {
		return err
	}
	for range 2 {
		if err := life(o); err != nil {
			return err
		}
	}
	return nil
}

func life(o durable.Options) error {
	l, err := durable.Open(o)
	if err != nil {
		return err
	}
	defer l.Close()
	if k := l.Recall("AServer(1)"); k != nil {
		fmt.Printf("life %d finds %s = %s, as section %d of life %d left it\n", l.Life(), k.Vars[0].Name, k.Vars[0].Value, k.N, k.Life)
		return nil
	}
	fmt.Printf("life %d finds nothing\n", l.Life())
	n, err := l.Append("AServer(1)", distsys.Kept{Life: 1, N: 3, Vars: []distsys.Var{{Name: "sum", Value: value.Int(5)}}})
	if err != nil {
		return err
	}
	written := make(chan bool, 1)
	wake := env.WakeFunc(func() { written <- true })
	if durable, err := l.Durable(n, &wake); durable || err != nil {
		return err
	}
	<-written
	return nil
}
