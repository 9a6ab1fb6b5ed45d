// SPDX-License-Identifier: Apache-2.0

package tracelog_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

type buffer struct{ bytes.Buffer }

func (b *buffer) Append(p []byte) error {
	b.Write(p)
	return nil
}

var header = tracelog.Header{System: "S", Archetype: "A", Self: "1", Wall: "2026-01-02T03:04:05Z"}

func events() []tracelog.Event {
	return []tracelog.Event{
		{N: 1, Next: "l", Vars: []tracelog.Var{{Name: "x", Value: "<<>>"}}, Clock: tracelog.Clock{{Actor: "A(1)", N: 1}}, Start: 1, End: 2},
		{N: 2, Label: "l", Aborted: "blocked", Start: 3, End: 3},
		{N: 2, Label: "l", Next: "Done", Clock: tracelog.Clock{{Actor: "A(1)", N: 2}, {Actor: "B(2)", N: 7}}, Start: 3, End: 9,
			Elements: []tracelog.Element{{Op: tracelog.Read, Name: "net", Indices: []string{"1"}, Value: `"a"`}, {Op: tracelog.Write, Name: "q", Value: "{1}"}}},
	}
}

func write(t *testing.T, es []tracelog.Event) []byte {
	t.Helper()
	var b buffer
	w, err := tracelog.NewWriter(&b, header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range es {
		if err := w.Record(&es[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestParseReadsWhatWasWritten(t *testing.T) {
	f, err := tracelog.Parse(bytes.NewReader(write(t, events())))
	if err != nil {
		t.Fatal(err)
	}
	want := header
	want.Format, want.Version = tracelog.Format, tracelog.Version
	if diff := cmp.Diff(&tracelog.File{Header: want, Events: events()}, f); diff != "" {
		t.Errorf("want, then got:\n%s", diff)
	}
	if got := f.Header.Actor(); got != "A(1)" {
		t.Errorf("actor %q", got)
	}
}

// TestTornTails cuts a file at every byte: what is left is read, whole lines
// only.
func TestTornTails(t *testing.T) {
	whole := write(t, events())
	for n := range whole {
		f, err := tracelog.Parse(bytes.NewReader(whole[:n]))
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		lines := bytes.Count(whole[:n], []byte("\n"))
		if got, want := len(f.Events), max(lines-1, 0); got != want {
			t.Errorf("cut at %d: %d events, want %d", n, got, want)
		}
		if got, want := f.Torn, n == 0 || whole[n-1] != '\n'; got != want {
			t.Errorf("cut at %d: torn is %v, want %v", n, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	head := `{"format":"ashlar-trace","version":1,"system":"S","archetype":"A","self":"1","wall":""}` + "\n"
	one := `{"n":1,"label":"","next":"l","clock":[{"actor":"A(1)","n":1}],"start":1,"end":2}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"format", `{"format":"other"}` + "\n", `line 1: format "other"`},
		{"version", `{"format":"ashlar-trace","version":2,"new":1}` + "\n", "line 1: version 2, want 1"},
		{"no instance", `{"format":"ashlar-trace","version":1}` + "\n", "does not name the instance"},
		{"no json", head + "hello\n", "line 2: invalid character"},
		{"unknown field", head + `{"n":1,"what":2}` + "\n", `unknown field "what"`},
		{"two values", head + strings.TrimSpace(one) + "{}\n", "more than one value"},
		{"gap", head + one + `{"n":3,"label":"l","next":"l","clock":[{"actor":"A(1)","n":3}],"start":3,"end":4}` + "\n", "line 3: event 3 after event 1"},
		{"own clock", head + `{"n":1,"label":"","next":"l","clock":[],"start":1,"end":2}` + "\n", "event 1 has the clock 0"},
		{"clock order", head + `{"n":1,"label":"","next":"l","clock":[{"actor":"B","n":1},{"actor":"A(1)","n":1}],"start":1,"end":2}` + "\n", "not sorted"},
		{"clock back", head + `{"n":1,"label":"","next":"l","clock":[{"actor":"A(1)","n":1},{"actor":"B","n":5}],"start":1,"end":2}` + "\n" +
			`{"n":2,"label":"l","next":"l","clock":[{"actor":"A(1)","n":2},{"actor":"B","n":4}],"start":3,"end":4}` + "\n", "clock goes back"},
		{"labels", head + one + `{"n":2,"label":"m","next":"l","clock":[{"actor":"A(1)","n":2}],"start":3,"end":4}` + "\n", `starts at label "m", but the previous event went to "l"`},
		{"times", head + `{"n":1,"label":"","next":"l","clock":[{"actor":"A(1)","n":1}],"start":5,"end":2}` + "\n", "ends at 2"},
		{"operation", head + `{"n":1,"label":"","next":"l","elements":[{"op":"x","name":"a","value":"1"}],"clock":[{"actor":"A(1)","n":1}],"start":1,"end":2}` + "\n", `element "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tracelog.Parse(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if le := (*tracelog.LineError)(nil); !errors.As(err, &le) {
				t.Errorf("%v names no line", err)
			}
		})
	}
}

// endless gives one line without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLongLinesAreRefused(t *testing.T) {
	if _, err := tracelog.Parse(endless{}); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("got %v", err)
	}
}

var errLater = errors.New("later")

// growing gives a byte at a time, and an error before each.
type growing struct {
	text []byte
	now  bool
}

func (g *growing) Read(p []byte) (int, error) {
	if g.now = !g.now; g.now {
		return 0, errLater
	}
	if len(g.text) == 0 {
		return 0, io.EOF
	}
	p[0] = g.text[0]
	g.text = g.text[1:]
	return 1, nil
}

// TestReaderGoesOn: a reader of a file that grows reads what Parse reads at the end.
func TestReaderGoesOn(t *testing.T) {
	whole := write(t, events())
	head := bytes.IndexByte(whole, '\n') + 1
	file := &growing{text: whole[head:]}
	r, err := tracelog.NewReader(io.MultiReader(bytes.NewReader(whole[:head]), file))
	if err != nil {
		t.Fatal(err)
	}
	n, later := 0, 0
	for {
		e, err := r.Next()
		if errors.Is(err, errLater) {
			later++
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events()[n], *e, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("event %d:\n%s", n, diff)
		}
		if n++; r.Line() != n+1 {
			t.Errorf("event %d is in line %d", n, r.Line())
		}
	}
	if n != len(events()) || later < len(whole)-head || r.Torn() {
		t.Errorf("%d events after %d errors, torn %v", n, later, r.Torn())
	}
}

func TestClock(t *testing.T) {
	var none tracelog.Clock
	a := none.With("b", 2).With("a", 1)
	if diff := cmp.Diff(tracelog.Clock{{Actor: "a", N: 1}, {Actor: "b", N: 2}}, a); diff != "" {
		t.Error(diff)
	}
	b := none.With("b", 5).With("c", 1).With("b", 1)
	m := a.Merge(b)
	if diff := cmp.Diff(tracelog.Clock{{Actor: "a", N: 1}, {Actor: "b", N: 2}, {Actor: "c", N: 1}}, m); diff != "" {
		t.Error(diff)
	}
	if !a.LessEq(m) || !b.LessEq(m) || m.LessEq(a) || !none.LessEq(a) || a.LessEq(none) {
		t.Error("the order of clocks is wrong")
	}
	if got := a.With("z", math.MaxUint64).Of("z"); got != math.MaxUint64 {
		t.Errorf("z is %d", got)
	}
}

// FuzzParse: any bytes are read or refused; what is read can be written and
// read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":"ashlar-trace","version":1,"archetype":"A","self":"1"}` + "\n" + `{"n":1,"label":"","next":"l","clock":[{"actor":"A(1)","n":1}],"start":1,"end":2}` + "\n"))
	f.Add([]byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := tracelog.Parse(bytes.NewReader(data))
		if err != nil || file.Header.Format == "" {
			return
		}
		var b buffer
		w, err := tracelog.NewWriter(&b, file.Header)
		if err != nil {
			t.Fatal(err)
		}
		for i := range file.Events {
			if err := w.Record(&file.Events[i]); err != nil {
				t.Fatal(err)
			}
		}
		again, err := tracelog.Parse(&b)
		if err != nil {
			t.Fatalf("%v: %q", err, b.Bytes())
		}
		if len(again.Events) != len(file.Events) {
			t.Errorf("%d events, then %d", len(file.Events), len(again.Events))
		}
	})
}
