// SPDX-License-Identifier: Apache-2.0

package tracelog_test

import (
	"bytes"
	"fmt"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

// A program that no compiler wrote can log what it does, for `ashlar trace check`.
func ExampleWriter() {
	var file buffer
	w, err := tracelog.NewWriter(&file, tracelog.Header{System: "Counter", Archetype: "AAdder", Self: "1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range []tracelog.Event{
		{N: 1, Next: "add", Vars: []tracelog.Var{{Name: "n", Value: "0"}}, Clock: tracelog.Clock{{Actor: "AAdder(1)", N: 1}}},
		{N: 2, Label: "add", Next: "Done", Clock: tracelog.Clock{{Actor: "AAdder(1)", N: 2}},
			Elements: []tracelog.Element{{Op: tracelog.Write, Name: "n", Value: "1"}}},
	} {
		if err := w.Record(&e); err != nil {
			fmt.Println(err)
			return
		}
	}
	f, err := tracelog.Parse(bytes.NewReader(file.Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range f.Events {
		fmt.Printf("%s: %q to %q\n", f.Header.Actor(), e.Label, e.Next)
	}
	// Output:
	// AAdder(1): "" to "add"
	// AAdder(1): "add" to "Done"
}
