// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func (ctx *Context) read(name Value, op string) []byte {
	file := wantString(name, op)
	if ctx.Files == nil {
		value.Fail("%s(%q): files cannot be read here", op, file)
	}
	data, err := ctx.Files.ReadFile(file)
	if err != nil {
		value.Fail("%s(%q): %v", op, file, err)
	}
	return data
}

func (ctx *Context) write(name Value, data []byte, appending bool, op string) {
	file := wantString(name, op)
	if ctx.Files == nil {
		value.Fail("%s(%q): files cannot be written here", op, file)
	}
	if err := ctx.Files.WriteFile(file, data, appending); err != nil {
		value.Fail("%s(%q): %v", op, file, err)
	}
}

func ioUtils() []Op {
	m := module{name: "IOUtils"}
	m.fn("IOSerialize", func(ctx *Context, args []Arg) Value {
		ctx.write(args[1].Val, value.AppendWire(nil, whole(args[0].Val)), false, "IOSerialize")
		return boolean(true)
	}, 0, 0, 0)
	m.fn("IODeserialize", func(ctx *Context, args []Arg) Value {
		v, rest, err := value.ParseWire(ctx.read(args[0].Val, "IODeserialize"))
		if err != nil || len(rest) > 0 {
			value.Fail("IODeserialize(%s): the file holds no value that IOSerialize wrote", args[0].Val)
		}
		return v
	}, 0, 0)
	m.fn("Serialize", serialize, 0, 0, 0)
	m.fn("Deserialize", func(ctx *Context, args []Arg) Value {
		text := ctx.read(args[0].Val, "Deserialize")
		return outcome(0, string(text), "")
	}, 0, 0)
	m.fn("IOExec", func(ctx *Context, args []Arg) Value {
		return ctx.execute(words(args[0].Val, "IOExec"), nil, "IOExec")
	}, 0)
	m.fn("IOEnvExec", func(ctx *Context, args []Arg) Value {
		return ctx.execute(words(args[1].Val, "IOEnvExec"), environment(args[0].Val, "IOEnvExec"), "IOEnvExec")
	}, 0, 0)
	m.fn("IOExecTemplate", func(ctx *Context, args []Arg) Value {
		command := expand(args[0].Val, args[1].Val, "IOExecTemplate")
		return ctx.execute(command, nil, "IOExecTemplate")
	}, 0, 0)
	m.fn("IOEnvExecTemplate", func(ctx *Context, args []Arg) Value {
		command := expand(args[1].Val, args[2].Val, "IOEnvExecTemplate")
		return ctx.execute(command, environment(args[0].Val, "IOEnvExecTemplate"), "IOEnvExecTemplate")
	}, 0, 0, 0)
	m.fn("IOEnv", func(ctx *Context, _ []Arg) Value {
		if ctx.Environment == nil {
			value.Fail("IOEnv: the environment is not known here")
		}
		var fields []value.Field
		for name, val := range ctx.Environment() {
			fields = append(fields, value.Field{Name: name, Val: value.String(val)})
		}
		return value.Record(fields)
	})
	m.f1("atoi", func(s Value) Value {
		text := wantString(s, "atoi")
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
		if err != nil {
			value.Fail("atoi(%q): expected the digits of an integer of 32 bits", text)
		}
		return value.Int(int32(n))
	})
	m.f2("zeroPadN", func(v, n Value) Value {
		digits, width := strconv.Itoa(int(wantNat(v, "zeroPadN"))), int(wantNat(n, "zeroPadN"))
		if width > padMax {
			value.Fail("zeroPadN: %d digits are too many", width)
		}
		return value.String(strings.Repeat("0", max(width-len(digits), 0)) + digits)
	})
	m.primitive("IOSerialize IODeserialize Serialize Deserialize IOExec IOEnvExec IOExecTemplate IOEnvExecTemplate IOEnv atoi zeroPadN")
	m.effects("IOSerialize IODeserialize Serialize Deserialize IOExec IOEnvExec IOExecTemplate IOEnvExecTemplate IOEnv")
	return m.ops
}

// padMax limits the width of zeroPadN.
const padMax = 10_000

// serialize writes a string, or the text of any other value, to a file. If
// openOptions, a sequence, contains "APPEND", it appends to the file.
func serialize(ctx *Context, args []Arg) Value {
	text := args[0].Val.String()
	if args[0].Val.Kind() == value.KindString {
		text = args[0].Val.AsString()
	}
	appending := false
	if options, ok := wantFn(args[2].Val, "Serialize").Lookup(value.String("openOptions")); ok {
		appending = slices.Contains(words(options, "Serialize"), "APPEND")
	}
	ctx.write(args[1].Val, []byte(text), appending, "Serialize")
	return outcome(0, "", "")
}

func outcome(exit int32, stdout, stderr string) Value {
	return value.Record([]value.Field{
		{Name: "exitValue", Val: value.Int(exit)},
		{Name: "stdout", Val: value.String(stdout)},
		{Name: "stderr", Val: value.String(stderr)},
	})
}

// words converts a sequence to Go strings; an element that is not a string is
// replaced by its text.
func words(v Value, op string) []string {
	var out []string
	for _, x := range wantSeq(v, op) {
		out = append(out, plain(x))
	}
	return out
}

// plain is the text of a value; strings have no quotes.
func plain(v Value) string {
	if v.Kind() == value.KindString {
		return v.AsString()
	}
	return v.String()
}

// expand inserts the parameters into the words of a command. The template is a
// sequence of words, or one string that is split at spaces.
func expand(template, params Value, op string) []string {
	var parts []string
	if template.Kind() == value.KindString {
		parts = strings.Fields(template.AsString())
	} else {
		parts = words(template, op)
	}
	given, used := wantSeq(params, op), 0
	for i := range parts {
		parts[i] = format(parts[i], given, &used, op)
	}
	return parts
}

func environment(v Value, op string) map[string]string {
	out := map[string]string{}
	if f := wantFn(v, op).Normal(); f.Kind() == value.KindRecord {
		for name, val := range f.Fields {
			out[name] = plain(val)
		}
	}
	return out
}

func (ctx *Context) execute(command []string, env map[string]string, op string) Value {
	if ctx.Execute == nil {
		value.Fail("%s: commands cannot be run here", op)
	}
	if len(command) == 0 {
		value.Fail("%s: the command is empty", op)
	}
	exit, stdout, stderr, err := ctx.Execute(command, env)
	if err != nil {
		value.Fail("%s(%q): %v", op, command[0], err)
	}
	return outcome(int32(exit), stdout, stderr)
}

// format replaces %s by the next parameter, %2$s by the second, and %% by %. It
// returns in used how many parameters %s consumed.
func format(template string, params []Value, used *int, op string) string {
	var b strings.Builder
	for i := 0; i < len(template); i++ {
		c := template[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		i++
		start := i
		for i < len(template) && template[i] >= '0' && template[i] <= '9' {
			i++
		}
		at := 0
		if i > start && i < len(template) && template[i] == '$' {
			at, _ = strconv.Atoi(template[start:i])
			i++
		}
		switch {
		case i < len(template) && template[i] == '%' && i == start:
			b.WriteByte('%')
			continue
		case i >= len(template) || template[i] != 's' && template[i] != 'd':
			value.Fail("%s: the template %q may hold %%s, %%d, %%1$s and %%%% only", op, template)
		case at == 0:
			*used++
			at = *used
		}
		if at > len(params) {
			value.Fail("%s: the template %q wants %d values, found %d", op, template, at, len(params))
		}
		b.WriteString(plain(params[at-1]))
	}
	return b.String()
}

func csvModule() []Op {
	m := module{name: "CSV"}
	m.fn("CSVWrite", func(ctx *Context, args []Arg) Value {
		used := 0
		line := format(wantString(args[0].Val, "CSVWrite"), wantSeq(args[1].Val, "CSVWrite"), &used, "CSVWrite")
		ctx.write(args[2].Val, []byte(line+"\n"), true, "CSVWrite")
		return boolean(true)
	}, 0, 0, 0)
	m.fn("CSVRead", func(ctx *Context, args []Arg) Value {
		columns := words(args[0].Val, "CSVRead")
		delimiter := wantString(args[1].Val, "CSVRead")
		if delimiter == "" {
			value.Fail("CSVRead: the delimiter is empty")
		}
		var rows []Value
		for _, line := range lines(ctx.read(args[2].Val, "CSVRead")) {
			cells := strings.Split(line, delimiter)
			fields := make([]value.Field, 0, len(columns))
			for i, c := range columns {
				if i < len(cells) {
					fields = append(fields, value.Field{Name: c, Val: value.String(cells[i])})
				}
			}
			rows = append(rows, value.Record(fields))
		}
		return value.TupleOf(rows)
	}, 0, 0, 0)
	m.fn("CSVRecords", func(ctx *Context, args []Arg) Value {
		file := wantString(args[0].Val, "CSVRecords")
		if ctx.Files != nil {
			if _, err := ctx.Files.ReadFile(file); errors.Is(err, fs.ErrNotExist) {
				return value.Int(0)
			}
		}
		return value.Int(int32(len(lines(ctx.read(args[0].Val, "CSVRecords")))))
	}, 0)
	m.fn("CSVWriteRecord", csvRecord, 0, 0, 0, 0)
	m.primitive("CSVWrite CSVRead CSVRecords CSVWriteRecord")
	m.effects("CSVWrite CSVRead CSVRecords CSVWriteRecord")
	return m.ops
}

// csvRecord adds a line with the values of a record, preceded by a line with
// the field names if asked for.
func csvRecord(ctx *Context, args []Arg) Value {
	const op = "CSVWriteRecord"
	record, delimiter := wantFn(args[0].Val, op).Normal(), wantString(args[1].Val, op)
	if record.Kind() != value.KindRecord {
		value.Fail("%s: expected a record, found %s", op, value.Describe(record))
	}
	var names, cells []string
	for name, val := range record.Fields {
		names, cells = append(names, name), append(cells, plain(val))
	}
	text := strings.Join(cells, delimiter) + "\n"
	headers := args[2].Val
	if headers.Kind() != value.KindBool {
		value.Fail("%s: whether there are headers must be a boolean, found %s", op, value.Describe(headers))
	}
	if headers.IsTrue() {
		text = strings.Join(names, delimiter) + "\n" + text
	}
	ctx.write(args[3].Val, []byte(text), true, op)
	return boolean(true)
}

// lines splits a text into lines without their line ends and drops empty lines.
func lines(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}
