// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// answersLate answers a tick after it has logged, when the fact is durable.
const answersLate = `program answerslate
component store {
  input  put(client: node, id: u64, k: text)
  input  get(client: node, id: u64, k: text)
  output ok(id: u64)
  output has(id: u64)
  log    data(k: text)
  log    data(k) <- put(_, _, k)
  next   did(c, id) <- put(c, id, _)
  async  ok@c(id) <- did(c, id)
  async  has@c(id) <- get(c, id, k), data(k)
}
`

// TestAnswersWaitForTheDisk: a rule that answers because a fact is durable must stay where the
// fact is logged. The message to another piece would leave before the disk has the fact, and
// the next tick of that piece does not wait for the disk.
func TestAnswersWaitForTheDisk(t *testing.T) {
	p := given.Program(t, answersLate)
	step := func(text string) rewrite.Step {
		s, err := rewrite.ParseStep(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	waits := step("monotonic store rules 2 3 as answer")
	if _, _, err := rewrite.Apply(p, waits); err == nil || !strings.Contains(err.Error(), "begins once data is durable") {
		t.Errorf("not refused: %v", err)
	}
	// A rule that reads what the waiting rule derived may move.
	q, cert, err := rewrite.Apply(p, step("functional store rules 3 as answer"))
	if err == nil {
		err = certificate.Check(p, q, cert.Claim(p))
	}
	if err != nil {
		t.Error(err)
	}
	// If nothing is durable, no rule waits for it.
	volatile := given.Program(t, strings.NewReplacer("log    data(k: text)", "table  data(k: text)", "log    data(k) <-", "next   data(k) <-").Replace(answersLate))
	q, cert, err = rewrite.Apply(volatile, waits)
	if err == nil {
		err = certificate.Check(volatile, q, cert.Claim(volatile))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*logic.Program{volatile, q} {
		r.Find("data").Durable = true
	}
	if err := certificate.Check(volatile, q, cert.Claim(volatile)); err == nil || !strings.Contains(err.Error(), "no longer wait for the disk") {
		t.Errorf("the certificate passes: %v", err)
	}
}
