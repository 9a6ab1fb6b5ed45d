// SPDX-License-Identifier: Apache-2.0

package memo

import "github.com/ashlar-dev/ashlar/tla/value"

// CallsMax is the maximum number of results that are stored for one
// application.
const CallsMax = 64

// calls has the results of one application, by the hash of the arguments.
type calls map[uint64]result

type result struct {
	args []value.Value
	val  value.Value
}

// Call returns the stored result of an application for the arguments with the given
// hash.
func (s *Sites) Call(site int, hash uint64, args []value.Value) (v value.Value, ok bool) {
	r := s.calls[site][hash]
	return r.val, r.of(args)
}

// SetCall stores a result, unless the application has CallsMax of them.
func (s *Sites) SetCall(site int, hash uint64, args []value.Value, v value.Value) {
	if s.calls[site] == nil {
		s.calls[site] = make(calls)
	}
	if len(s.calls[site]) < CallsMax {
		s.calls[site][hash] = result{args, v}
	}
}

// of reports whether the result is for these arguments.
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
