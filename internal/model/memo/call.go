// SPDX-License-Identifier: Apache-2.0

package memo

import "github.com/ashlar-dev/ashlar/tla/value"

// CallsMax is how many results each application remembers.
const CallsMax = 64

// calls are results of one application by the hash of the arguments.
type calls map[uint64]result

type result struct {
	args []value.Value
	val  value.Value
}

// Call is the result of an application for arguments with a hash, if it is remembered.
func (s *Sites) Call(site int, hash uint64, args []value.Value) (v value.Value, ok bool) {
	r := s.calls[site][hash]
	return r.val, r.of(args)
}

// SetCall remembers a result, unless the application has CallsMax of them.
func (s *Sites) SetCall(site int, hash uint64, args []value.Value, v value.Value) {
	if s.calls[site] == nil {
		s.calls[site] = make(calls)
	}
	if len(s.calls[site]) < CallsMax {
		s.calls[site][hash] = result{args, v}
	}
}

// of reports whether the result is that of these arguments.
func (r *result) of(vals []value.Value) bool {
	if len(r.args) != len(vals) {
		return false
	}
	for i, v := range vals {
		if r.args[i].Kind() != v.Kind() || !value.Equal(r.args[i], v) {
			return false
		}
	}
	return true
}
