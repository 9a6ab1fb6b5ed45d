--------------------------- MODULE AshlarResources ----------------------------
(* Mapping macros for Modular PlusCal. The compiler knows what each of them is  *)
(* in a running system, by its name and this module. To a checker they are      *)
(* mapping macros like any other. An algorithm uses them as its own:            *)
(*                                                                              *)
(*     EXTENDS AshlarResources                                                  *)
(*     process (P \in Ids) == instance A(ref net[_])                            *)
(*       mapping net[_] via LossyMailbox;                                       *)
(*                                                                              *)
(* A mapping macro of the algorithm's own with such a name has precedence.      *)
EXTENDS Naturals, Sequences

\* The first value of a variable that is mapped through GrowCounter, for a finite set
\* of processes.
NewGrowCounter(Processes) == [p \in Processes |-> [added |-> 0, seen |-> 0]]

\* What all processes have added to such a variable.
GrowCounterTotal(counter) ==
  LET RECURSIVE Sum(_)
      Sum(S) == IF S = {} THEN 0 ELSE LET p == CHOOSE p \in S : TRUE IN counter[p].added + Sum(S \ {p})
  IN Sum(DOMAIN counter)

(*
--mpcal AshlarResources {
  \* Messages for each index, in the order in which they were sent. Sending waits
  \* until the receiver has a place for the message. First value: <<>>.
  mapping macro StrictMailbox {
    read {
      await $variable # <<>>;
      with (m = Head($variable)) {
        $variable := Tail($variable);
        yield m;
      };
    }
    write { yield Append($variable, $value); }
  }

  \* The same; sending does not wait. Where the compiler finds that unsound for an
  \* archetype, the running system has strict ones. First value: <<>>.
  mapping macro RelaxedMailbox {
    read {
      await $variable # <<>>;
      with (m = Head($variable)) {
        $variable := Tail($variable);
        yield m;
      };
    }
    write { yield Append($variable, $value); }
  }

  \* All messages that were ever sent. One may arrive late, often, or never, also
  \* after a crash of its sender or receiver. Sending never waits. First value: {}.
  mapping macro LossyMailbox {
    read { with (m \in $variable) { yield m; }; }
    write { yield $variable \cup {$value}; }
  }

  \* Suspects a process or does not, rightly or wrongly. It is only read.
  mapping macro FailureDetector {
    read { either { yield TRUE; } or { yield FALSE; }; }
    write { await FALSE; }
  }

  \* Time passes: FALSE becomes TRUE at some time after the last write, which may
  \* write anything. Archetypes of a node that are passed one variable share the
  \* timer.
  mapping macro Timer {
    read { either { yield TRUE; } or { yield FALSE; }; }
    write { skip; }
  }

  \* What the program around the process gives it, in order. First value: the
  \* sequence of all that it will give, or <<>> where another process writes it
  \* through Output.
  mapping macro Input {
    read {
      await $variable # <<>>;
      with (m = Head($variable)) {
        $variable := Tail($variable);
        yield m;
      };
    }
    write { await FALSE; }
  }

  \* What the process gives the program around it, in order. First value: <<>>.
  mapping macro Output {
    read { await FALSE; yield $variable; }
    write { yield Append($variable, $value); }
  }

  \* A variable of the node that several archetypes share.
  mapping macro LocalShared {
    read { yield $variable; }
    write { yield $value; }
  }

  \* A counter of which each process has a copy. Writing adds a natural number, and
  \* does not wait. Reading gives at least what the process has read or added before,
  \* and at most what all have added. First value: NewGrowCounter(Processes).
  mapping macro GrowCounter {
    read {
      with (n \in $variable[self].seen .. GrowCounterTotal($variable)) {
        $variable[self] := [added |-> $variable[self].added, seen |-> n];
        yield n;
      };
    }
    write {
      yield [$variable EXCEPT ![self] = [added |-> @.added + $value, seen |-> @.seen + $value]];
    }
  }
}
*)
==============================================================================
