// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func jsonModule() []Op {
	m := module{name: "Json"}
	m.f1("ToJson", func(v Value) Value { return value.String(string(appendJSON(nil, v))) })
	m.f1("ToJsonArray", func(v Value) Value {
		return value.String(string(appendArray(nil, elementsOf(v, "ToJsonArray"))))
	})
	m.f1("ToJsonObject", func(v Value) Value {
		return value.String(string(appendObject(nil, wantFn(v, "ToJsonObject").Normal())))
	})
	m.fn("JsonSerialize", func(ctx *Context, args []Arg) Value {
		ctx.write(args[0].Val, append(appendJSON(nil, args[1].Val), '\n'), false, "JsonSerialize")
		return boolean(true)
	}, 0, 0)
	m.fn("JsonDeserialize", func(ctx *Context, args []Arg) Value {
		vs := parseJSON(ctx.read(args[0].Val, "JsonDeserialize"), args[0].Val, "JsonDeserialize")
		if len(vs) != 1 {
			value.Fail("JsonDeserialize(%s): expected one value, found %d", args[0].Val, len(vs))
		}
		return vs[0]
	}, 0)
	m.fn("ndJsonSerialize", func(ctx *Context, args []Arg) Value {
		var text []byte
		for _, v := range elementsOf(args[1].Val, "ndJsonSerialize") {
			text = append(appendJSON(text, v), '\n')
		}
		ctx.write(args[0].Val, text, false, "ndJsonSerialize")
		return boolean(true)
	}, 0, 0)
	m.fn("ndJsonDeserialize", func(ctx *Context, args []Arg) Value {
		return value.TupleOf(parseJSON(ctx.read(args[0].Val, "ndJsonDeserialize"), args[0].Val, "ndJsonDeserialize"))
	}, 0)
	m.primitive("ToJson ToJsonArray ToJsonObject JsonSerialize JsonDeserialize ndJsonSerialize ndJsonDeserialize")
	m.effects("JsonSerialize JsonDeserialize ndJsonSerialize ndJsonDeserialize")
	return m.ops
}

// elementsOf is the elements of a sequence or of a set.
func elementsOf(v Value, op string) []Value {
	if v.Kind() == value.KindSet {
		return v.Elems()
	}
	return wantSeq(v, op)
}

// appendJSON writes a value as other TLA+ tools do: sequences and sets become
// arrays, other functions become objects, and model values become strings. The
// original value cannot be recovered from the output.
func appendJSON(buf []byte, v Value) []byte {
	switch v = v.Normal(); v.Kind() {
	case value.KindBool:
		return strconv.AppendBool(buf, v.IsTrue())
	case value.KindInt:
		return strconv.AppendInt(buf, int64(v.AsInt()), 10)
	case value.KindString:
		return value.AppendJSONString(buf, v.AsString())
	case value.KindModel:
		return value.AppendJSONString(buf, v.AsModel())
	case value.KindTuple:
		return appendArray(buf, v.Elements())
	case value.KindSet:
		return appendArray(buf, v.Elems())
	case value.KindRecord, value.KindFn:
		return appendObject(buf, v)
	}
	value.Fail("ToJson: there is no value")
	return nil
}

func appendArray(buf []byte, es []Value) []byte {
	buf = append(buf, '[')
	for i, e := range es {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendJSON(buf, e)
	}
	return append(buf, ']')
}

func appendObject(buf []byte, f Value) []byte {
	buf = append(buf, '{')
	vals := f.Values()
	for i, k := range f.Domain().Elems() {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(value.AppendJSONString(buf, plain(k)), ':')
		buf = appendJSON(buf, vals[i])
	}
	return append(buf, '}')
}

// jsonDepthMax limits the nesting depth of JSON texts.
const jsonDepthMax = 500

// parseJSON reads a sequence of JSON values. Objects become records, and arrays
// become sequences.
func parseJSON(text []byte, file Value, op string) []Value {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out []Value
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		var v Value
		if err == nil {
			v, err = readJSON(d, token, 0)
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			value.Fail("%s(%s): %v", op, file, err)
		}
		out = append(out, v)
	}
}

func readJSON(d *json.Decoder, token json.Token, depth int) (Value, error) {
	if depth > jsonDepthMax {
		return Value{}, fmt.Errorf("nested deeper than %d", jsonDepthMax)
	}
	switch t := token.(type) {
	case bool:
		return value.Bool(t), nil
	case string:
		return value.String(t), nil
	case json.Number:
		n, err := strconv.ParseInt(t.String(), 10, 32)
		if err != nil {
			return Value{}, fmt.Errorf("%s is not an integer of 32 bits", t)
		}
		return value.Int(int32(n)), nil
	case json.Delim:
		if t == '[' {
			return readArray(d, depth)
		}
		return readObject(d, depth)
	}
	return Value{}, errors.New("null is no value")
}

func readArray(d *json.Decoder, depth int) (Value, error) {
	var es []Value
	for {
		token, err := d.Token()
		if err != nil {
			return Value{}, err
		}
		if token == json.Delim(']') {
			return value.TupleOf(es), nil
		}
		e, err := readJSON(d, token, depth+1)
		if err != nil {
			return Value{}, err
		}
		es = append(es, e)
	}
}

func readObject(d *json.Decoder, depth int) (Value, error) {
	var fields []value.Field
	seen := map[string]bool{}
	for {
		token, err := d.Token()
		if err != nil {
			return Value{}, err
		}
		if token == json.Delim('}') {
			return value.Record(fields), nil
		}
		name := token.(string)
		if seen[name] {
			return Value{}, fmt.Errorf("the field %q comes twice", name)
		}
		seen[name] = true
		if token, err = d.Token(); err != nil {
			return Value{}, err
		}
		e, err := readJSON(d, token, depth+1)
		if err != nil {
			return Value{}, err
		}
		fields = append(fields, value.Field{Name: name, Val: e})
	}
}
