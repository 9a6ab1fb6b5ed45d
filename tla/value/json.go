// SPDX-License-Identifier: Apache-2.0

package value

import (
	"strconv"
	"unicode/utf8"
)

// JSON is v as unambiguous JSON. Numbers, booleans and strings stay as they
// are; a tuple becomes an array and a record an object. Other values become
// {"#set": [...]}, {"#map": [[argument, value], ...]} or {"#model": name}. A
// set that cannot be enumerated becomes {"#text": its TLA+ text}.
func (v Value) JSON() string { return string(v.AppendJSON(nil)) }

// AppendJSON appends JSON to buf.
func (v Value) AppendJSON(buf []byte) []byte {
	v = v.finite()
	switch v.Kind() {
	case Undefined:
		return append(buf, "null"...)
	case KindBool:
		return strconv.AppendBool(buf, v.n != 0)
	case KindInt:
		return strconv.AppendInt(buf, int64(v.n), 10)
	case KindString:
		return AppendJSONString(buf, v.text())
	case KindModel:
		buf = append(buf, `{"#model":`...)
		buf = AppendJSONString(buf, v.text())
		return append(buf, '}')
	case KindTuple:
		return appendJSONList(buf, v.elements())
	case KindRecord:
		buf = append(buf, '{')
		for i, k := range v.ref.info.keys {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = AppendJSONString(buf, k.text())
			buf = append(buf, ':')
			buf = v.ref.elems[i].AppendJSON(buf)
		}
		return append(buf, '}')
	case KindFn:
		if v.bits == bitsFnLazy {
			return appendJSONText(buf, v)
		}
		buf = append(buf, `{"#map":[`...)
		for i, k := range v.Domain().Elems() {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = appendJSONList(buf, []Value{k, v.ref.elems[i]})
		}
		return append(buf, `]}`...)
	}
	if lo, hi, ok := v.AsInterval(); v.bits != bitsEnum || ok && int64(hi)-int64(lo) >= symbolicListedMax {
		return appendJSONText(buf, v)
	}
	buf = append(buf, `{"#set":`...)
	buf = appendJSONList(buf, v.elements())
	return append(buf, '}')
}

// finite computes lazy functions and enumerates sets, as far as the text can
// list them.
func (v Value) finite() Value {
	switch {
	case v.bits == bitsFnLazy && IsFinite(v.ref.elems[0]):
		return v.Normal()
	case v.Kind() == KindSet && v.bits != bitsEnum:
		if lo, hi, ok := v.AsInterval(); ok && int64(hi)-int64(lo) < symbolicListedMax || !ok && v.ref != nil && isListed(v) {
			return enumerated(v)
		}
	}
	return v
}

func appendJSONText(buf []byte, v Value) []byte {
	buf = append(buf, `{"#text":`...)
	buf = AppendJSONString(buf, v.String())
	return append(buf, '}')
}

func appendJSONList(buf []byte, es []Value) []byte {
	buf = append(buf, '[')
	for i, e := range es {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = e.AppendJSON(buf)
	}
	return append(buf, ']')
}

// AppendJSONString appends s as a JSON string. Bytes that are not valid UTF-8
// become U+FFFD.
func AppendJSONString(buf []byte, s string) []byte {
	const hex = "0123456789abcdef"
	buf = append(buf, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			buf = append(buf, '\\', byte(r))
		case r == '\n':
			buf = append(buf, `\n`...)
		case r == '\t':
			buf = append(buf, `\t`...)
		case r < ' ':
			buf = append(buf, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			buf = utf8.AppendRune(buf, r)
		}
	}
	return append(buf, '"')
}
