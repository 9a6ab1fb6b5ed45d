// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/overlay"
)

// program is a program that this test has as Go.
type program struct {
	// name is the package's; source and script are the files that it is made of, in the
	// directory above; script is empty where it is not rewritten.
	name, source, script string
	// compiled is nil until the test is built again.
	compiled func() *rt.Program
}

// programs are all of them.
func programs() []program {
	all := []program{
		{name: "voting", source: "voting.ded"},
		{name: "votingscaled", source: "voting.ded", script: "voting.steps"},
		{name: "paxos", source: "paxos.ded"},
		{name: "paxosscaled", source: "paxos.ded", script: "paxos.steps"},
		{name: "multipaxos", source: "multipaxos.ded"},
		{name: "multipaxosscaled", source: "multipaxos.ded", script: "multipaxos.steps"},
		{name: "comppaxos", source: "comppaxos.ded"},
	}
	of := linked()
	for i := range all {
		all[i].compiled = of[all[i].name]
	}
	return all
}

// here is this directory in the module.
const here = "examples/dedalus/compiled/"

// generated are the packages of all programs, and the file that has this test import
// them.
func generated() (overlay.Files, error) {
	files := overlay.Files{}
	var imports, entries strings.Builder
	for _, p := range programs() {
		l, err := p.logic()
		if err != nil {
			return nil, err
		}
		written, err := gen.Generate(l, p.name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		for _, f := range written {
			files[here+p.name+"/"+f.Name] = f.Text
		}
		fmt.Fprintf(&imports, "\t\"github.com/ashlar-dev/ashlar/%s%s\"\n", here, p.name)
		fmt.Fprintf(&entries, "%q: %[1]s.Program,\n", p.name)
	}
	files[here+"linked_test.go"] = fmt.Appendf(nil, `package compiled_test

import (
	"github.com/ashlar-dev/ashlar/dedalus/rt"
%s)

func linked() map[string]func() *rt.Program {
	return map[string]func() *rt.Program{
%s}
}
`, &imports, &entries)
	return files, nil
}
