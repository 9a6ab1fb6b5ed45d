// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"context"
	"fmt"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// An archetype with one critical section, as the compiler writes it: it counts to
// three and is done. A section works on a copy of its variables, which takes their
// place when the section commits.
func ExampleRun() {
	type variables struct{ n int }
	up := &distsys.Archetype[variables]{Name: "Up", Sections: []distsys.Section[variables]{{
		Name: "up", Place: "Up.tla:5:3",
		Run: func(s *variables, _ *distsys.Tx) (distsys.Label, error) {
			if s.n == 3 {
				return distsys.Done, nil
			}
			s.n++
			fmt.Println(s.n)
			return 0, nil // this section again
		},
	}}}
	process, err := distsys.New(up, value.Int(1), variables{}, distsys.Options{Env: osenv.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(distsys.Run(context.Background(), process))
	// Output:
	// 1
	// 2
	// 3
	// <nil>
}
