package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/cmd/internal/version"
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// With --tlc-output the result is written as messages that editors made for TLC
// can read: the Toolbox, and the TLA+ extension of VS Code. A message is
//
//	@!@!@STARTMSG 2110:1 @!@!@
//	Invariant Small is violated.
//	@!@!@ENDMSG 2110 @!@!@
//
// where 2110 is what it is about and 1 how bad it is. What stands within is
// fixed where the readers look at it, and is in our words elsewhere. What the
// specification prints stands between messages.

// tlcCode is what a message is about.
type tlcCode int

// The codes that are written.
const (
	tlcGeneral          tlcCode = 1000
	tlcNested           tlcCode = 2103
	tlcAssumption       tlcCode = 2104
	tlcInvariantInitial tlcCode = 2107
	tlcPropertyInitial  tlcCode = 2108
	tlcInvariant        tlcCode = 2110
	tlcInvariantNoValue tlcCode = 2111
	tlcStep             tlcCode = 2112
	tlcStepNoValue      tlcCode = 2113
	tlcDeadlock         tlcCode = 2114
	tlcTemporal         tlcCode = 2116
	tlcBehaviour        tlcCode = 2121
	tlcBackTo           tlcCode = 2122
	tlcAssert           tlcCode = 2132
	tlcStarting         tlcCode = 2185
	tlcFinished         tlcCode = 2186
	tlcMode             tlcCode = 2187
	tlcComputingInit    tlcCode = 2189
	tlcInitDone         tlcCode = 2190
	tlcDeciding         tlcCode = 2192
	tlcSuccess          tlcCode = 2193
	tlcDepth            tlcCode = 2194
	tlcStatistics       tlcCode = 2199
	tlcProgress         tlcCode = 2200
	tlcCoverageStart    tlcCode = 2201
	tlcCoverageEnd      tlcCode = 2202
	tlcState            tlcCode = 2217
	tlcStuttering       tlcCode = 2218
	tlcParsed           tlcCode = 2219
	tlcParsing          tlcCode = 2220
	tlcVersion          tlcCode = 2262
	tlcModeDepth        tlcCode = 2271
	tlcCounterexample   tlcCode = 2264
	tlcDecided          tlcCode = 2267
	tlcCoverageNext     tlcCode = 2772
	tlcCoverageInit     tlcCode = 2773
	tlcSpecificationBad tlcCode = 3002
	tlcConfigurationBad tlcCode = 5002
	tlcTimeLayout               = "2006-01-02 15:04:05"
	tlcProgressFirst            = 3 * time.Second
	tlcProgressEvery            = time.Minute
	tlcAssertionMessage         = "assertion failed: " // of tla/native
	tlcInitialPredicate         = "<Initial predicate>"
)

// tlcSeverity is how bad a message is.
type tlcSeverity int

// The severities. A state of a trace has one of its own.
const (
	tlcInfo    tlcSeverity = 0
	tlcError   tlcSeverity = 1
	tlcWarning tlcSeverity = 3
	tlcTrace   tlcSeverity = 4
)

// tlcOutput writes the messages of one run. Its methods may be called from any
// goroutine. What cannot be written is lost, as with any text for a terminal.
type tlcOutput struct {
	mu    sync.Mutex
	w     io.Writer
	began time.Time
	stop  chan struct{}
	done  sync.WaitGroup
	// counted reports that the number of initial states was told.
	counted atomic.Bool
	// decidedFrom is when properties of behaviours began to be decided.
	decidedFrom time.Time
	// span finds what begins at a place, where it is known.
	span func(place string) source.Span
}

func newTLCOutput(w io.Writer) *tlcOutput {
	return &tlcOutput{w: w, began: time.Now(), stop: make(chan struct{}),
		span: func(string) source.Span { return source.Span{} }}
}

// say writes a message.
func (t *tlcOutput) say(code tlcCode, severity tlcSeverity, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.w, "@!@!@STARTMSG %d:%d @!@!@\n%s\n@!@!@ENDMSG %d @!@!@\n", code, severity, fmt.Sprintf(format, args...), code)
}

// line writes what stands between messages.
func (t *tlcOutput) line(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.w, text)
}

func tlcNow() string { return time.Now().Format(tlcTimeLayout) }

// open says what is running, on which files, and what is odd or wrong with them.
func (t *tlcOutput) open(spec string, o checkOptions, files []string, diags *source.List) {
	t.say(tlcVersion, tlcInfo, "Ashlar %s, which writes what TLC2 Version 2 does", version.String())
	workers := fmt.Sprintf("%d workers", o.workers)
	if o.workers == 1 {
		workers = "1 worker"
	}
	if o.deepen {
		t.say(tlcModeDepth, tlcInfo, "Running depth-first search Model-Checking with %s, to a depth of %d states.", workers, o.dfid)
	} else {
		t.say(tlcMode, tlcInfo, "Running breadth-first search Model-Checking with %s on %d cores.", workers, runtime.NumCPU())
	}
	t.say(tlcParsing, tlcInfo, "Starting SANY...")
	t.parsed(spec, files, diags)
	t.say(tlcParsed, tlcInfo, "SANY finished.")
	t.say(tlcStarting, tlcInfo, "Starting... (%s)", t.began.Format(tlcTimeLayout))
}

// parsed lists the modules and, by module, the diagnostics that have a place in
// one. Others come with the reason of the refusal.
func (t *tlcOutput) parsed(spec string, files []string, diags *source.List) {
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
		t.line("Parsing file " + full)
	}
	for _, name := range names {
		t.line("Semantic processing of module " + moduleOf(name))
		t.diagnosed("*** Errors: ", by[name], source.Error)
		t.diagnosed("*** Warnings: ", by[name], source.Warning)
	}
}

// diagnosed lists the diagnostics of one module and one severity.
func (t *tlcOutput) diagnosed(head string, all []source.Diagnostic, severity source.Severity) {
	var some []source.Diagnostic
	for _, d := range all {
		if d.Severity == severity {
			some = append(some, d)
		}
	}
	if len(some) == 0 {
		return
	}
	t.line(fmt.Sprintf("%s%d\n", head, len(some)))
	for _, d := range some {
		t.line(fmt.Sprintf("%s\n\n%s\n", tlcRange(d.Span), tlcComplaint(d)))
	}
}

// tlcComplaint is a diagnostic without its place.
func tlcComplaint(d source.Diagnostic) string {
	if d.Repair == "" {
		return d.Message
	}
	return d.Message + " (" + d.Repair + ")"
}

// refused says why there is nothing to check. Diagnostics in modules were
// listed with them.
func (t *tlcOutput) refused(code int, diags *source.List) {
	for _, d := range diags.Sorted() {
		if d.Severity != source.Error || d.Span.IsValid() && strings.HasSuffix(d.Span.File.Name, ".tla") {
			continue
		}
		t.say(tlcConfigurationBad, tlcError, "%s: %s", d.Span, tlcComplaint(d))
	}
	if code == exitConfig {
		t.say(tlcGeneral, tlcError, "The configuration has errors.")
	} else {
		t.say(tlcSpecificationBad, tlcError, "Parsing or semantic analysis failed.")
	}
}

// begin says that the search does, and tells how far it is until end.
func (t *tlcOutput) begin(m watcher) {
	t.say(tlcComputingInit, tlcInfo, "Computing initial states...")
	t.done.Go(func() {
		tick := time.NewTimer(tlcProgressFirst)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if n := m.Initial(); n > 0 {
					t.initial(n)
				}
				t.progress(m.Stats(), time.Since(t.began))
				tick.Reset(tlcProgressEvery)
			case <-t.stop:
				return
			}
		}
	})
}

// initial says, once, how many initial states there are.
func (t *tlcOutput) initial(n int64) {
	if t.counted.Swap(true) {
		return
	}
	states := "states"
	if n == 1 {
		states = "state"
	}
	t.say(tlcInitDone, tlcInfo, "Finished computing initial states: %d distinct %s generated at %s.", n, states, tlcNow())
}

// deciding says that properties of behaviours are being decided, on so many states.
func (t *tlcOutput) deciding(m watcher, states int64) {
	if n := m.Initial(); n > 0 {
		t.initial(n)
	}
	t.decidedFrom = time.Now()
	t.say(tlcDeciding, tlcInfo, "Checking temporal properties for the complete state space with %d total distinct states at (%s)", states, tlcNow())
}

// end ends what begin began, when the search has ended.
func (t *tlcOutput) end() {
	close(t.stop)
	t.done.Wait()
	if !t.decidedFrom.IsZero() {
		t.say(tlcDecided, tlcInfo, "Finished checking temporal properties in %02ds at %s", int(time.Since(t.decidedFrom).Seconds()), tlcNow())
	}
}

// progress says how far a search is after so long.
func (t *tlcOutput) progress(s check.Stats, after time.Duration) {
	minutes := max(after.Minutes(), 1e-6)
	t.say(tlcProgress, tlcInfo, "Progress(%d) at %s: %s states generated (%s s/min), %s distinct states found (%s ds/min), %s states left on queue.",
		s.Depth, tlcNow(), count(s.Generated), count(int64(float64(s.Generated)/minutes)),
		count(s.Distinct), count(int64(float64(s.Distinct)/minutes)), count(s.Queue))
}

// moduleOf is the module that a file holds.
func moduleOf(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".tla")
}

// tlcRange is a span in the words of the readers, who count the last column as
// part of it.
func tlcRange(s source.Span) string {
	from, to := s.From(), s.To()
	last := to.Column - 1
	if to.Line == from.Line {
		last = max(last, from.Column)
	}
	return fmt.Sprintf("line %d, col %d to line %d, col %d of module %s", from.Line, from.Column, to.Line, last, moduleOf(s.File.Name))
}
