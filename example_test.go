// SPDX-License-Identifier: Apache-2.0

package ashlar_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ashlar-dev/ashlar"
)

// memory is modules without a file system.
type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) {
	if text, ok := m[name]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

// Two processes take a lock by asking first and taking it then.
var lock = memory{
	"Lock.tla": `---- MODULE Lock ----
(* --algorithm Lock
variable free = TRUE;
process Client \in {"a", "b"}
begin
  Ask:  await free;
  Take: free := FALSE;
  Hold: free := TRUE;
end process;
end algorithm; *)
One == \A p, q \in {"a", "b"} : pc[p] = "Hold" /\ pc[q] = "Hold" => p = q
====
`,
	"Lock.cfg": "SPECIFICATION Spec\nINVARIANT One\n",
}

func ExampleSpecification_Check() {
	spec, err := ashlar.Load("Lock", ashlar.Options{Files: lock})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := spec.Check(context.Background(), ashlar.CheckOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Verdict)
	for _, v := range result.Violations {
		fmt.Println(v.Property, "is false after", len(v.Trace), "states:")
		for _, state := range v.Trace {
			fmt.Printf("%-5s %s\n", state.Action, state.Values[1].Value)
		}
	}
	// Output:
	// invariant
	// One is false after 5 states:
	//       [a |-> "Ask", b |-> "Ask"]
	// Ask   [a |-> "Take", b |-> "Ask"]
	// Ask   [a |-> "Take", b |-> "Take"]
	// Take  [a |-> "Hold", b |-> "Take"]
	// Take  [a |-> "Hold", b |-> "Hold"]
}

func ExampleSpecification_Simulate() {
	spec, err := ashlar.Load("Lock", ashlar.Options{Files: lock})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := spec.Simulate(context.Background(), ashlar.SimulateOptions{Walks: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Verdict, s.Violation.Property, len(s.Violation.Trace))
	// Output: invariant One 5
}

func ExampleLoad_wrong() {
	_, err := ashlar.Load("Wrong.tla", ashlar.Options{Files: memory{"Wrong.tla": "---- MODULE Wrong ----\nVARIABLE count\nInit == counter = 0\nNext == count' = count\n====\n"}})
	var wrong *ashlar.InputError
	if errors.As(err, &wrong) {
		d := wrong.List[0]
		fmt.Printf("%s:%d:%d: %s; %s\n", d.File, d.Line, d.Column, d.Message, d.Repair)
	}
	// Output: Wrong.tla:3:9: unknown name counter; did you mean count?
}

func ExampleTranslate() {
	t, err := ashlar.Translate("Lock", ashlar.Options{Files: lock})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(t.Content) > len(lock["Lock.tla"]))
	// Output: true
}

func ExampleCompile() {
	files := memory{"Counter.tla": `---- MODULE Counter ----
EXTENDS Naturals
(* --mpcal Counter {
  archetype Up(ref n)
  {
    up: while (n < 10) { n := n + 1; };
  }
  variables count = 0;
  process (p = 1) == instance Up(ref count);
} *)
====
`}
	program, err := ashlar.Compile("Counter", ashlar.CompileOptions{Options: ashlar.Options{Files: files}, Main: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range program.Files {
		fmt.Println(f.Name)
	}
	// Output:
	// counter.go
	// places.go
	// main.go
}
