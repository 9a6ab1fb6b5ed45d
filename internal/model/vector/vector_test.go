// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestManyValues: a variable with more values than are numbered.
func TestManyValues(t *testing.T) {
	c := NewCodec(1)
	c.Vars[0].count = ValuesMax - 1
	v := Vector{make([]value.Value, 1), make([]uint32, 1)}
	ends := make([]int32, 1)
	for i := range int32(5) {
		x := value.Tuple(value.Int(i), value.String("x"))
		buf, id, _ := c.Append(nil, 0, x, nil)
		if numbered := id != 0; numbered != (i == 0) {
			t.Errorf("value %d has the number %d", i, id)
		}
		c.Decode(buf, v, ends)
		if !value.Equal(v.Vals[0], x) || int(ends[0]) != len(buf) || v.IDs[0] != id {
			t.Errorf("%v decodes to %v, number %d, end %d of %d", x, v.Vals[0], v.IDs[0], ends[0], len(buf))
		}
		again, _, _ := c.Append(nil, 0, value.Tuple(value.Int(i), value.String("x")), nil)
		if string(again) != string(buf) {
			t.Errorf("%v has two encodings", x)
		}
	}
}
