package gen_test

import (
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/internal/given"
)

// TestNames runs a program whose names are words of Go or of what is generated, with
// relations of no columns that are carried, and sets of sets.
func TestNames(t *testing.T) {
	p := given.Program(t, `program type
component program {
  input len(type: u64, chan: node)
  static rt(c: node) = nodes func
  table map(type: u64, range: text)
  var sets(a: set<set<u64>>)
  sync map(x, "a\"b\\n") <- len(x, _)
  sync flag() <- len(_, _)
  next go() <- flag()
  next iota() <- flag()
  next iota() <- iota()
  sync s1(collect<x>) <- map(x, _)
  sync sets(collect<s>) <- s1(s)
  async append@d(x) <- map(x, _), go(), iota(), rt(d)
  async init@d(s) <- sets(s), rt(d)
}
component func {
  output error(x: u64)
  output nil(x: set<set<u64>>)
  async error@node "c"(x) <- append(x)
  async nil@node "c"(x) <- init(x)
}
deploy { program: 1, func: 1 }
`)
	lockstep(t, []named{{"names", p}}, 4, 60)
}
