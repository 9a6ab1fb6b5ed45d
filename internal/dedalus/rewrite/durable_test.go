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

// answersLate answers a tick after it has logged: when what it says is durable.
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

// TestAnswersWaitForTheDisk: who answers because something is durable stays where that
// is logged. The message that would tell a piece leaves before the disk has it, and the
// next tick of that piece waits for no disk.
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
	// What has waited may go on from elsewhere.
	q, cert, err := rewrite.Apply(p, step("functional store rules 3 as answer"))
	if err == nil {
		err = certificate.Check(p, q, cert.Claim(p))
	}
	if err != nil {
		t.Error(err)
	}
	// Where nothing is durable, nobody waits for it.
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
