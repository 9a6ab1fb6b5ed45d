// SPDX-License-Identifier: Apache-2.0

// Package tlc speaks to users of TLC and to their editors: it writes the messages of
// --tlc-output, and says what to write instead of a flag of TLC.
//
// In: a report, and how far the search is. Out: messages that the Toolbox and the TLA+
// extension of VS Code read. Their framing and their codes are TLC's; the text within is
// ours where the readers do not look at it.
package tlc

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// With --tlc-output the result is written as messages that editors made for TLC
// can read: the Toolbox, and the TLA+ extension of VS Code. A message is
//
//	@!@!@STARTMSG 2110:1 @!@!@
//	Invariant Small is violated.
//	@!@!@ENDMSG 2110 @!@!@
//
// where 2110 is what it is about and 1 how bad it is. What is within is
// fixed where the readers look at it, and is in our words elsewhere. What the
// specification prints is between messages.

// code identifies the subject of a message.
type code int

// The codes that are written.
const (
	codeGeneral          code = 1000
	codeNested           code = 2103
	codeAssumption       code = 2104
	codeInvariantInitial code = 2107
	codePropertyInitial  code = 2108
	codeInvariant        code = 2110
	codeInvariantNoValue code = 2111
	codeStep             code = 2112
	codeStepNoValue      code = 2113
	codeDeadlock         code = 2114
	codeTemporal         code = 2116
	codeBehaviour        code = 2121
	codeBackTo           code = 2122
	codeAssert           code = 2132
	codeStarting         code = 2185
	codeFinished         code = 2186
	codeMode             code = 2187
	codeComputingInit    code = 2189
	codeInitDone         code = 2190
	codeDeciding         code = 2192
	codeSuccess          code = 2193
	codeDepth            code = 2194
	codeStatistics       code = 2199
	codeProgress         code = 2200
	codeCoverageStart    code = 2201
	codeCoverageEnd      code = 2202
	codeState            code = 2217
	codeStuttering       code = 2218
	codeParsed           code = 2219
	codeParsing          code = 2220
	codeVersion          code = 2262
	codeModeDepth        code = 2271
	codeCounterexample   code = 2264
	codeDecided          code = 2267
	codeCoverageNext     code = 2772
	codeCoverageInit     code = 2773
	codeSpecificationBad code = 3002
	codeConfigurationBad code = 5002
	timeLayout                = "2006-01-02 15:04:05"
	progressFirst             = 3 * time.Second
	progressEvery             = time.Minute
	assertionMessage          = "assertion failed: " // of tla/stdlib
	initialPredicate          = "<Initial predicate>"
)

// severity is the severity of a message.
type severity int

// The severities. The states of a trace have a severity of their own.
const (
	severityInfo    severity = 0
	severityError   severity = 1
	severityWarning severity = 3
	severityTrace   severity = 4
)

// Output writes the messages of one run. Its methods may be called from any
// goroutine. It ignores write errors, as for any text on a terminal.
type Output struct {
	mu    sync.Mutex
	w     io.Writer
	began time.Time
	stop  chan struct{}
	done  sync.WaitGroup
	// counted reports that the number of initial states was printed.
	counted atomic.Bool
	// decidedFrom is the time at which the search began to decide properties of
	// behaviours.
	decidedFrom time.Time
	// Span returns the text range that begins at a place, if it is known.
	Span func(place string) source.Span
}

// New returns an output that writes to w. Its clock starts now.
func New(w io.Writer) *Output {
	return &Output{w: w, began: time.Now(), stop: make(chan struct{}),
		Span: func(string) source.Span { return source.Span{} }}
}

// say writes a message.
func (t *Output) say(code code, severity severity, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.w, "@!@!@STARTMSG %d:%d @!@!@\n%s\n@!@!@ENDMSG %d @!@!@\n", code, severity, fmt.Sprintf(format, args...), code)
}

// Print writes a line between messages.
func (t *Output) Print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.w, text)
}

func now() string { return time.Now().Format(timeLayout) }

// Open reports what is running, on which files, and their warnings and errors.
// depth is the bound of a depth-first search, or 0 for a breadth-first search.
func (t *Output) Open(spec string, workers, depth int, files []string, diags *source.List) {
	t.say(codeVersion, severityInfo, "Ashlar %s, which writes what TLC2 Version 2 does", version.String())
	by := fmt.Sprintf("%d workers", workers)
	if workers == 1 {
		by = "1 worker"
	}
	if depth > 0 {
		t.say(codeModeDepth, severityInfo, "Running depth-first search Model-Checking with %s, to a depth of %d states.", by, depth)
	} else {
		t.say(codeMode, severityInfo, "Running breadth-first search Model-Checking with %s on %d cores.", by, runtime.NumCPU())
	}
	t.say(codeParsing, severityInfo, "Starting SANY...")
	t.parsed(spec, files, diags)
	t.say(codeParsed, severityInfo, "SANY finished.")
	t.say(codeStarting, severityInfo, "Starting... (%s)", t.began.Format(timeLayout))
}

// parsed lists the modules and, by module, the diagnostics that have a place in
// one. Other diagnostics follow with the reason of the refusal.
func (t *Output) parsed(spec string, files []string, diags *source.List) {
	by := map[string][]source.Diagnostic{}
	seen := map[string]bool{}
	var names []string
	add := func(name string) {
		if !seen[name] && strings.HasSuffix(name, ".tla") {
			seen[name] = true
			names = append(names, name)
		}
	}
	add(spec)
	for _, name := range files {
		add(name)
	}
	for _, d := range diags.Sorted() {
		if d.Span.IsValid() {
			add(d.Span.File.Name)
			by[d.Span.File.Name] = append(by[d.Span.File.Name], d)
		}
	}
	for _, name := range names {
		full, err := filepath.Abs(name)
		if err != nil {
			full = name
		}
		t.Print("Parsing file " + full)
	}
	for _, name := range names {
		t.Print("Semantic processing of module " + moduleOf(name))
		t.diagnosed("*** Errors: ", by[name], source.Error)
		t.diagnosed("*** Warnings: ", by[name], source.Warning)
	}
}

// diagnosed lists the diagnostics of one module with one severity.
func (t *Output) diagnosed(head string, all []source.Diagnostic, severity source.Severity) {
	var some []source.Diagnostic
	for _, d := range all {
		if d.Severity == severity {
			some = append(some, d)
		}
	}
	if len(some) == 0 {
		return
	}
	t.Print(fmt.Sprintf("%s%d\n", head, len(some)))
	for _, d := range some {
		t.Print(fmt.Sprintf("%s\n\n%s\n", rangeOf(d.Span), complaint(d)))
	}
}

// complaint formats a diagnostic without its place.
func complaint(d source.Diagnostic) string {
	if d.Repair == "" {
		return d.Message
	}
	return d.Message + " (" + d.Repair + ")"
}

// Refused reports why nothing can be checked. Diagnostics in modules were
// listed with the modules.
func (t *Output) Refused(code int, diags *source.List) {
	for _, d := range diags.Sorted() {
		if d.Severity != source.Error || d.Span.IsValid() && strings.HasSuffix(d.Span.File.Name, ".tla") {
			continue
		}
		t.say(codeConfigurationBad, severityError, "%s: %s", d.Span, complaint(d))
	}
	if code == exit.Config {
		t.say(codeGeneral, severityError, "The configuration has errors.")
	} else {
		t.say(codeSpecificationBad, severityError, "Parsing or semantic analysis failed.")
	}
}

// Watcher reports the progress of a search.
type Watcher interface {
	Initial() int64
	Stats() check.Stats
}

// Begin reports the start of the search, and then its progress until End.
func (t *Output) Begin(m Watcher) {
	t.say(codeComputingInit, severityInfo, "Computing initial states...")
	t.done.Go(func() {
		tick := time.NewTimer(progressFirst)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if n := m.Initial(); n > 0 {
					t.initial(n)
				}
				t.progress(m.Stats(), time.Since(t.began))
				tick.Reset(progressEvery)
			case <-t.stop:
				return
			}
		}
	})
}

// initial reports the number of initial states, once.
func (t *Output) initial(n int64) {
	if t.counted.Swap(true) {
		return
	}
	states := "states"
	if n == 1 {
		states = "state"
	}
	t.say(codeInitDone, severityInfo, "Finished computing initial states: %d distinct %s generated at %s.", n, states, now())
}

// Deciding reports that the search is deciding properties of behaviours on the
// given number of states.
func (t *Output) Deciding(m Watcher, states int64) {
	if n := m.Initial(); n > 0 {
		t.initial(n)
	}
	t.decidedFrom = time.Now()
	t.say(codeDeciding, severityInfo, "Checking temporal properties for the complete state space with %d total distinct states at (%s)", states, now())
}

// End stops what Begin started, after the search has ended.
func (t *Output) End() {
	close(t.stop)
	t.done.Wait()
	if !t.decidedFrom.IsZero() {
		t.say(codeDecided, severityInfo, "Finished checking temporal properties in %02ds at %s", int(time.Since(t.decidedFrom).Seconds()), now())
	}
}

// progress reports the progress of a search at a time.
func (t *Output) progress(s check.Stats, after time.Duration) {
	minutes := max(after.Minutes(), 1e-6)
	t.say(codeProgress, severityInfo, "Progress(%d) at %s: %s states generated (%s s/min), %s distinct states found (%s ds/min), %s states left on queue.",
		s.Depth, now(), console.Count(s.Generated), console.Count(int64(float64(s.Generated)/minutes)),
		console.Count(s.Distinct), console.Count(int64(float64(s.Distinct)/minutes)), console.Count(s.Queue))
}

// moduleOf returns the name of the module in a file.
func moduleOf(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".tla")
}

// rangeOf formats a span for the readers, which count the last column as part
// of it.
func rangeOf(s source.Span) string {
	from, to := s.From(), s.To()
	last := to.Column - 1
	if to.Line == from.Line {
		last = max(last, from.Column)
	}
	return fmt.Sprintf("line %d, col %d to line %d, col %d of module %s", from.Line, from.Column, to.Line, last, moduleOf(s.File.Name))
}
