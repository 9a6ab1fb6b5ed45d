// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
)

// Outcome is the outcome of trying a mutant.
type Outcome string

// The outcomes. Only the first two are good.
const (
	Killed   Outcome = "killed"
	TimedOut Outcome = "timed out" // a test hung, which a person would notice as well
	Survived Outcome = "survives"
	NoBuild  Outcome = "does not build"
	NoText   Outcome = "text not found"
	// NoTest: the pattern matches no test, so nothing was tested.
	NoTest Outcome = "no test matches"
	// BaseFails: the tests fail without the mutant, so they show nothing.
	BaseFails Outcome = "fails without it"
)

// Good reports whether the tests did their work.
func (o Outcome) Good() bool { return o == Killed || o == TimedOut }

// Verdict is the outcome of a run of tests.
type Verdict struct {
	Outcome Outcome
	Package string // of Test, as go test names it
	Test    string // the first test that failed, with its subtest
	Detail  string // the first lines that the failure printed, or those of the build
}

// TopTest is the function of Test.
func (v Verdict) TopTest() string {
	top, _, _ := strings.Cut(v.Test, "/")
	return top
}

// event is a line of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

const (
	timeoutMark = "panic: test timed out after"
	detailLines = 12
)

// Judge reads the output of `go test -json` for one package. A run that printed
// no failure survived. passed reports whether the command succeeded; if it did
// not and no test is to blame, the package itself failed.
func Judge(stream []byte, passed bool) Verdict {
	var j judge
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, len(stream)+1)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			j.loose = append(j.loose, lines.Text())
			continue
		}
		j.take(e)
	}
	return j.verdict(passed)
}

// judge gathers the relevant events.
type judge struct {
	failed  *event
	running []string // tests that began and have not ended
	output  map[string][]string
	loose   []string // lines that are no events
	build   []string
	noBuild bool
	timeout bool
	pkg     string
}

func (j *judge) take(e event) {
	if e.Package != "" {
		j.pkg = e.Package
	}
	switch e.Action {
	case "run":
		j.running = append(j.running, e.Test)
	case "build-output":
		j.build = append(j.build, e.Output)
	case "build-fail":
		j.noBuild = true
	case "output":
		if strings.Contains(e.Output, timeoutMark) {
			j.timeout = true
		}
		if j.output == nil {
			j.output = map[string][]string{}
		}
		j.output[e.Test] = append(j.output[e.Test], e.Output)
	case "fail":
		if j.failed == nil && e.Test != "" {
			j.failed = &e
		}
		j.end(e.Test)
	case "pass", "skip":
		j.end(e.Test)
	}
}

func (j *judge) end(test string) {
	for i, t := range j.running {
		if t == test {
			j.running = append(j.running[:i], j.running[i+1:]...)
			return
		}
	}
}

func (j *judge) verdict(passed bool) Verdict {
	v := Verdict{Outcome: Survived, Package: j.pkg}
	switch {
	case j.noBuild:
		v.Outcome, v.Detail = NoBuild, excerpt(j.build)
	case j.failed != nil:
		v.Outcome, v.Test, v.Detail = Killed, j.failed.Test, excerpt(j.output[j.failed.Test])
	case !passed && len(j.running) > 0: // the process died under a test
		v.Outcome, v.Test = Killed, j.running[len(j.running)-1]
		v.Detail = excerpt(j.output[v.Test])
	case !passed && j.pkg == "":
		v.Outcome, v.Detail = NoBuild, excerpt(j.loose)
	case !passed:
		v.Outcome, v.Detail = Killed, excerpt(j.output[""])
	}
	if v.Outcome == Killed && j.timeout {
		v.Outcome = TimedOut
	}
	return v
}

// excerpt is the first lines without the marks of where tests begin and end.
func excerpt(lines []string) string {
	var b strings.Builder
	n := 0
	for _, l := range lines {
		if strings.HasPrefix(l, "=== ") || strings.TrimSpace(l) == "" {
			continue
		}
		if n++; n > detailLines {
			break
		}
		b.WriteString(strings.TrimRight(l, "\n") + "\n")
	}
	return b.String()
}
