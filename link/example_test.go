// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/link"
)

// Begin and Seal make a frame of a service's message; a Scanner finds frames in what
// the network brings, in whatever pieces.
func ExampleScanner() {
	frame := link.Begin(nil, link.Service)
	frame = link.AppendString(frame, "hello")
	frame = link.Seal(frame, 0)

	s := link.Scanner{Max: 1 << 10}
	for _, piece := range [][]byte{frame[:7], frame[7:]} {
		s.Feed(piece)
		f, ok, err := s.Next()
		if err != nil || !ok {
			fmt.Println("not yet", err)
			continue
		}
		r := link.NewReader("greeting", f.Payload)
		text := r.String("text", 100)
		fmt.Println(f.Type == link.Service, text, r.End())
	}
	// Output:
	// not yet <nil>
	// true hello <nil>
}
