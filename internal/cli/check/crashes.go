// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ashlar-dev/ashlar/internal/specification"
)

// crashes is the flag that bounds the number of crashes. Nil leaves the bound to
// the configuration.
type crashes struct{ most *int32 }

func (c *crashes) addTo(f *pflag.FlagSet) {
	f.Var(c, "crashes", "let processes crash at most `N` times, overriding CRASHES of the configuration")
}

// String is the number, or empty.
func (c *crashes) String() string {
	if c.most == nil {
		return ""
	}
	return strconv.Itoa(int(*c.most))
}

// Type is the kind of value that help texts show.
func (c *crashes) Type() string { return "int" }

// Set reads the number.
func (c *crashes) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("want a number from 0 to %d", math.MaxInt32)
	}
	most := int32(n)
	c.most = &most
	return nil
}

// allow lets the processes of a specification crash as often as the flag
// permits.
func (c crashes) allow(s *specification.Specification) error {
	if c.most == nil {
		return nil
	}
	return s.Crash(*c.most)
}
