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

// TestFalseDependency has facts that contradict a declared dependency: the program is invalid,
// and no claim about it is accepted.
func TestFalseDependency(t *testing.T) {
	const text = `program shards
component a {
  static shard(v: u64, s: u64) = { (1, 1), (2, 2) } fd v -> s
  output both(x: u64, y: u64)
  table  kp(s: u64, x: u64)
  table  kq(s: u64, y: u64)
  sync   kp(s, x) <- got(s, x)
  sync   kq(s, y) <- got(s, y)
  async  both@node "c"(x, y) <- shard(v, s), shard(v, t), kp(s, x), kq(t, y)
}
component front {
  input  put(k: u64, v: u64)
  static a(n: node) = nodes a
  async  got@n(k, v) <- put(k, v), a(n)
}
`
	if p, errs := given.Read(strings.Replace(text, "(2, 2)", "(1, 2)", 1)); p != nil || !strings.Contains(errs, "BadDependency") {
		t.Errorf("got %q", errs)
	}
	p := given.Program(t, text)
	q, cert, err := rewrite.Apply(p, rewrite.Step{Kind: rewrite.Partition, Component: "a", Partitions: 2})
	if err != nil {
		t.Fatal(err)
	}
	claim := cert.Claim(p)
	for _, p := range []*logic.Program{p, q} {
		p.Find("shard").Facts[1][0].Num = 1
	}
	if err := certificate.Check(p, q, claim); err == nil || !strings.Contains(err.Error(), "violate a dependency that it declares") {
		t.Errorf("got %v", err)
	}
}
