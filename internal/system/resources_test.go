// SPDX-License-Identifier: Apache-2.0

package system

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/compile"
)

// texts are files in memory.
type texts map[string]string

func (t texts) ReadFile(name string) ([]byte, error) {
	if s, ok := t[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}

// beat is an algorithm whose mapping macros are those of AshlarResources, or, with
// OWN replaced, its own of the same names.
const beat = `---- MODULE beat ----
EXTENDS Naturals, Sequences, AshlarResources
(*
--mpcal beat {
  OWN
  archetype A(ref net[_], ref strict[_], ref relaxed[_], ref timer, ref fd[_], ref in, ref out, ref likes)
  {
    l: await timer /\ ~fd[3 - self];
       timer := TRUE;
       net[3 - self] := in;
    m: with (x = net[self]) { out := x; };
    n: strict[3 - self] := 1;
    o: relaxed[3 - self] := strict[self];
    p: likes := 1; await likes > 1;
  }
  variables net = [i \in {1,2} |-> {}]; strict = [i \in {1,2} |-> <<>>]; relaxed = strict;
    timer = FALSE; fd = [i \in {1,2} |-> FALSE]; in = <<1, 2>>; out = <<>>; likes = NewGrowCounter({1,2});
  process (P \in {1,2}) == instance A(ref net[_], ref strict[_], ref relaxed[_], ref timer, ref fd[_], ref in, ref out, ref likes)
    mapping net[_] via LossyMailbox mapping strict[_] via StrictMailbox mapping relaxed[_] via RelaxedMailbox
    mapping timer via Timer mapping fd[_] via FailureDetector mapping in via Input mapping out via Output mapping likes via GrowCounter;
}
*)
====
`

// TestResourcesByName: the compiler takes a mapping macro of AshlarResources for
// what its name says, and one of the algorithm's own that has the same name for
// what its text looks like.
func TestResourcesByName(t *testing.T) {
	compiled := func(own string) (code string, conf *distsys.Config) {
		t.Helper()
		files := texts{"beat.tla": strings.Replace(beat, "OWN", own, 1), "beat.cfg": "SPECIFICATION Spec\n"}
		made, err := Compile(files, "beat.tla", Options{Options: compile.Options{Main: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range made.Files {
			code += string(f.Text)
		}
		if conf, err = distsys.LoadConfig(strings.NewReader(string(made.Example))); err != nil {
			t.Fatalf("%v\n%s", err, made.Example)
		}
		return code, conf
	}
	code, conf := compiled("")
	if n := strings.Count(code, "Lossy: true"); n != 1 {
		t.Errorf("%d parameters are lossy, want 1", n)
	}
	r := conf.Resources
	for name, kind := range map[string]string{"net": "mailboxes", "strict": "mailboxes", "relaxed": "mailboxes", "timer": "timer", "fd": "detector", "in": "queue", "out": "queue", "likes": "counter"} {
		if r[name].Kind != kind {
			t.Errorf("%s is of kind %q, want %q", name, r[name].Kind, kind)
		}
	}
	if r["net"].Mode != "lossy" || r["strict"].Mode != "strict" || r["relaxed"].Mode != "relaxed" {
		t.Errorf("modes %q, %q and %q", r["net"].Mode, r["strict"].Mode, r["relaxed"].Mode)
	}
	if !r["timer"].OfNode || r["timer"].Spread == 0 {
		t.Errorf("the timer is %+v, want one of the node with a spread", r["timer"])
	}

	code, conf = compiled(`mapping macro LossyMailbox {
    read { await $variable # {}; with (m \in $variable) { $variable := $variable \ {m}; yield m; }; }
    write { yield $variable \cup {$value}; }
  }
  mapping macro FailureDetector {
    read { yield $variable; }
    write { yield $value; }
  }`)
	if strings.Contains(code, "Lossy: true") || conf.Resources["net"].Mode != "strict" || conf.Resources["fd"].Kind != "shared" && conf.Resources["fd"].Kind != "dummy" {
		t.Errorf("macros of the algorithm's own are taken for those of the module: %+v", conf.Resources)
	}
}
