// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/model"
)

// profileEvery is the sampling interval.
const profileEvery = time.Millisecond

// sampler periodically records which expression a model is evaluating.
type sampler struct {
	stop chan struct{}
	done sync.WaitGroup
}

func sample(m *model.Model) *sampler {
	s := &sampler{stop: make(chan struct{})}
	s.done.Go(func() {
		tick := time.NewTicker(profileEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.Sample()
			case <-s.stop:
				return
			}
		}
	})
	return s
}

func (s *sampler) end() {
	close(s.stop)
	s.done.Wait()
}

// profileOf describes the evaluation costs of the expressions in the user's
// files.
func profileOf(s *subject, o checkOptions) *report.Profile {
	if !o.profile || s.profile == nil {
		return nil
	}
	costs, outside := s.profile()
	out := &report.Profile{Outside: outside, Samples: outside, Expressions: []report.Expression{}}
	shown := map[string]bool{}
	for _, c := range costs {
		out.Samples += c.Samples
		if !slices.Contains(s.files, c.Span.File.Name) {
			continue // of a standard module, or of a translation
		}
		from, to := c.Span.From(), c.Span.To()
		e := report.Expression{File: c.Span.File.Name, Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column,
			Evaluated: c.Evaluated, Samples: c.Samples, Text: c.Span.Text()}
		if c.Passed >= 0 {
			passed := c.Passed
			e.Passed = &passed
		}
		out.Expressions = append(out.Expressions, e)
		if o.html != "" && !shown[e.File] {
			shown[e.File] = true
			out.Sources = append(out.Sources, report.SourceText{File: e.File, Lines: strings.Split(string(c.Span.File.Text), "\n")})
		}
	}
	return out
}
