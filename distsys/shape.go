// SPDX-License-Identifier: Apache-2.0

package distsys

import "github.com/ashlar-dev/ashlar/tla/value"

// AsIs is the identity Shape: the value remains a value.Value.
func AsIs() Shape[value.Value] {
	id := func(v value.Value) value.Value { return v }
	return Shape[value.Value]{To: id, From: id}
}

// Bool, Int and String are the Shapes of the plain types.
func Bool() Shape[bool] {
	return Shape[bool]{To: value.Bool, From: value.Value.AsBool}
}

// Int is the Shape of integers.
func Int() Shape[int32] {
	return Shape[int32]{To: value.Int, From: value.Value.AsInt}
}

// String is the Shape of strings.
func String() Shape[string] {
	return Shape[string]{To: value.String, From: value.Value.AsString}
}
