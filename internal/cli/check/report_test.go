// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// models are what the reports in testdata/report are about.
func models() map[string]ticketLock {
	return map[string]ticketLock{
		"good":   {clients: 2},
		"broken": {clients: 2, broken: true},
		"assume": {clients: 2, assume: []string{"N > 3"}},
		"undef":  {clients: 2, err: &check.EvalError{Message: "no such element", Places: []string{"lock.tla:31:8", "lock.tla:40:2"}}},
		"liveness": {clients: 2, info: func(i *check.Info) {
			i.Unchecked = []check.Unchecked{{Property: "Live", Reason: "a liveness property"}}
			i.Warnings = []string{"RandomElement makes the model differ from run to run"}
		}},
		"fatal": {clients: 2, err: errors.New("out of paper")},
	}
}

// timing matches the line of the report that differs from run to run.
var timing = regexp.MustCompile(`(?m)^[0-9.]+ s with .*probability < (.*)\.$`)

// TestReport shows what a person reads, and the exit code.
func TestReport(t *testing.T) {
	datadriven.RunTest(t, "testdata/report", func(t *testing.T, d *datadriven.TestData) string {
		o := checkOptions{workers: 1, deadlock: true}
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "safety-only":
				o.safetyOnly = true
			case "max-states":
				d.ScanArgs(t, "max-states", &o.statesMax)
			case "workers":
				d.ScanArgs(t, "workers", &o.workers)
			}
		}
		m, ok := models()[d.Cmd]
		if !ok {
			t.Fatalf("no model %q", d.Cmd)
		}
		var out, errs bytes.Buffer
		err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, o, "lock.tla", lockSubject(m))
		code := 0
		var e *exit.Error
		if errors.As(err, &e) {
			code = e.Code
		}
		text := timing.ReplaceAllString(out.String(), "TIME, RATE AND MEMORY; probability < $1.")
		text += errs.String()
		if e != nil && e.Err != nil {
			text += "error: " + e.Err.Error() + "\n"
		}
		return strings.ReplaceAll(text, "\n\n", "\n.\n") + "exit code " + strconv.Itoa(code) + "\n"
	})
}

// TestJSON reads the document back: the figures and the trace are there, and
// nothing else is on standard output.
func TestJSON(t *testing.T) {
	var out, errs bytes.Buffer
	load := func(spec string, o checkOptions, print func(string), m *check.Monitor) (*subject, error) {
		print("printed by the specification")
		return lockSubject(ticketLock{clients: 3, broken: true})(spec, o, print, m)
	}
	err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, checkOptions{workers: 2, deadlock: true, json: true}, "lock.tla", load)
	var e *exit.Error
	if !errors.As(err, &e) || e.Code != exit.Safety {
		t.Fatalf("got %v, want exit code %d", err, exit.Safety)
	}
	var d report.Document
	decoder := json.NewDecoder(&out)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if d.Schema != report.Schema || d.Verdict != "invariant" || d.ExitCode != exit.Safety || d.Violation.Property != "Mutex" || d.Complete {
		t.Errorf("%+v", d)
	}
	if len(d.Trace) != 5 || d.Trace[1].Changes[0].Path != "pc[c1]" || d.Trace[1].Changes[0].Now != `"wait"` || !d.Trace[1].Variables[0].Changed {
		t.Errorf("trace: %+v", d.Trace)
	}
	if string(d.Trace[0].Variables[1].JSON) != "[]" {
		t.Errorf("queue at first: %s", d.Trace[0].Variables[1].JSON)
	}
	if errs.String() != "printed by the specification\n" {
		t.Errorf("standard error: %q", &errs)
	}
}

// TestErrorsOfTheSpecification are shown with their lines, or as JSON.
func TestErrorsOfTheSpecification(t *testing.T) {
	load := func(spec string, _ checkOptions, _ func(string), _ *check.Monitor) (*subject, error) {
		f := source.NewFile(spec, []byte("---- MODULE lock ----\nInit == x = y\n====\n"))
		var diags source.List
		diags.Add(source.Diagnostic{Code: "UnknownName", Span: source.Span{File: f, Start: 34, End: 35}, Message: "y is not declared", Repair: "write x"})
		return nil, &specification.Error{Diagnostics: &diags}
	}
	for _, asJSON := range []bool{false, true} {
		var out, errs bytes.Buffer
		err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, checkOptions{json: asJSON}, "lock.tla", load)
		var e *exit.Error
		if !errors.As(err, &e) || e.Code != exit.Spec || e.Err != nil {
			t.Fatalf("got %v, want exit code %d", err, exit.Spec)
		}
		if !asJSON {
			want := "lock.tla:2:13: error: y is not declared [UnknownName]\n    Init == x = y\n                ^\n    repair: write x\n"
			if out.Len() > 0 || errs.String() != want {
				t.Errorf("got %q and %q, want %q", &out, &errs, want)
			}
			continue
		}
		var d report.Document
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		want := source.Report{Severity: "error", Code: "UnknownName", File: "lock.tla", Line: 2, Column: 13, Message: "y is not declared", Repair: "write x"}
		if d.Verdict != "error" || len(d.Diagnostics) != 1 || d.Diagnostics[0] != want || errs.Len() > 0 {
			t.Errorf("got %+v, and %q on standard error", d, &errs)
		}
	}
}

// TestPageThatCannotBeWritten is an error, but a violation counts more.
func TestPageThatCannotBeWritten(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "no", "such", "directory.html")
	for broken, want := range map[bool]int{false: exit.World, true: exit.Safety} {
		var out, errs bytes.Buffer
		o := checkOptions{deadlock: true, html: nowhere}
		err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, o, "lock.tla", lockSubject(ticketLock{clients: 2, broken: broken}))
		var e *exit.Error
		if !errors.As(err, &e) || e.Code != want {
			t.Errorf("broken %v: %v, want exit code %d", broken, err, want)
		}
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("the page is there")
	}
}

// TestInterruptedCheck says what is known.
func TestInterruptedCheck(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	err := runCheck(ctx, &console.Terminal{Out: &out, Err: &errs}, checkOptions{}, "lock.tla", lockSubject(ticketLock{clients: 9}))
	var e *exit.Error
	if !errors.As(err, &e) || e.Code != exit.Interrupted {
		t.Fatalf("got %v, want exit code %d", err, exit.Interrupted)
	}
	if !strings.HasPrefix(out.String(), "Interrupted. No violation so far") {
		t.Errorf("got %q", &out)
	}
}

func TestPostcondition(t *testing.T) {
	for _, tt := range []struct {
		holds bool
		err   error
		want  int
	}{{true, nil, 0}, {false, nil, exit.Assumption}, {false, &check.EvalError{Message: "no value"}, exit.Eval}} {
		load := func(spec string, o checkOptions, print func(string), m *check.Monitor) (*subject, error) {
			s, err := lockSubject(ticketLock{clients: 2})(spec, o, print, m)
			s.after = func() (string, bool, bool, error) { return "Post", tt.holds, true, tt.err }
			return s, err
		}
		var out, errs bytes.Buffer
		err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, checkOptions{deadlock: true}, "lock.tla", load)
		code := 0
		var e *exit.Error
		if errors.As(err, &e) {
			code = e.Code
		}
		if code != tt.want {
			t.Errorf("%+v: exit code %d\n%s", tt, code, &out)
		}
	}
}
