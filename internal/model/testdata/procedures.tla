----------------------------- MODULE procedures -----------------------------
(* Procedures that call themselves, tail calls, locals with a choice,         *)
(* mappings whose reads branch and whose writes may be dropped.               *)
EXTENDS Naturals, Sequences

(*
--mpcal procedures {
  define { Twice(n) == n + n }

  procedure Count(ref sum, n)
  variables k \in {0, 1};
  {
  enter:
    if (n > 0) {
      call Count(ref sum, n - 1);
    } else {
      sum := sum + Twice(k);
    };
  out:
    return;
  }

  procedure Send(ref box[_], ref sum, v)
  {
  put:
    box[1] := v;
    call Count(ref sum, 1);
    return;
  }

  mapping macro Lossy {
    read {
      await Len($variable) > 0;
      either {
        with (m = Head($variable)) { $variable := Tail($variable); yield m; };
      } or {
        yield 0;
      };
    }
    write {
      either { yield Append($variable, $value); } or { skip; };
    }
  }

  archetype A(ref net[_], ref sum, start)
  variables got = start, other;
  {
  a:
    call Send(ref net[_], ref sum, self);
  b:
    got := net[1] + net[1];
    other := got || got := start;
  c:
    with (x \in {1, 2}; y = x + 1) { other := x + y; };
  }

  variables boxes = [i \in 1..1 |-> <<>>], total = 0;

  process (P \in 1..2) == instance A(ref boxes[_], ref total, 3)
    mapping boxes[_] via Lossy;
}
*)
=============================================================================
