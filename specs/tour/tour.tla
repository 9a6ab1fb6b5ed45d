-------------------------------- MODULE tour --------------------------------
(***************************************************************************)
(* A tour of Modular PlusCal.  Every stop of it is an archetype that does  *)
(* something and asserts what must have come of it, so that a checker and  *)
(* a compiled program that disagree with the language, or with each other, *)
(* say so by themselves.  They go one after the other.                     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, FiniteSetsExt, Bags, TLC

CONSTANTS
  Colours,      \* some model values
  None          \* a model value that is no colour

ASSUME None \notin Colours

-----------------------------------------------------------------------------
RECURSIVE Factorial(_)
Factorial(n) == IF n = 0 THEN 1 ELSE n * Factorial(n - 1)

fib[n \in 0..10] == IF n < 2 THEN n ELSE fib[n - 1] + fib[n - 2]

Twice(Op(_), x) == Op(Op(x))

Even(n) == n % 2 = 0

Reverse(s) == [i \in 1..Len(s) |-> s[Len(s) + 1 - i]]

(*
--mpcal Tour {
  define {
    Area(shape) ==
      CASE shape.kind = "square" -> shape.side * shape.side
        [] shape.kind = "box"    -> shape.width * shape.height
        [] OTHER                 -> 0
    a ++ b == a + 10 * b
  }

  macro Swap(a, b) {
    a := b || b := a;
  }

  macro Collect(to, x) {
    with (old = to) {
      to := Append(old, x);
    };
  }

  macro CollectTwice(to, x) {
    Collect(to, x);
    Collect(to, x);
  }

  \* Takes the list apart: the sum of what is in it is added to the total.
  procedure SumInto(ref total, list)
  variable first = 0;
  {
    sumEmpty:
      if (list = <<>>) {
        return;
      };
    sumFirst:
      first := Head(list);
      total := total + first;
      list := Tail(list);
    sumRest:
      call SumInto(ref total, list);
      return;
  }

  \* The same, but it comes back from the recursion: locals must survive.
  procedure Count(ref cells[_], from, to)
  {
    countTest:
      if (from <= to) {
        call Count(ref cells[_], from + 1, to);
        goto countMine;
      } else {
        return;
      };
    countMine:
      cells[from] := 10 * from + to;
      return;
  }

  \* Passes its reference on, swapped.
  procedure Exchange(ref x, ref y, times)
  {
    exchange:
      x := y || y := x;
      times := times - 1;
    again:
      if (times > 0) {
        call Exchange(ref y, ref x, times);
        return;
      } else {
        return;
      };
  }

  mapping macro Queue {
    read {
      await Len($variable) > 0;
      with (h = Head($variable)) {
        $variable := Tail($variable);
        yield h;
      };
    }
    write { yield Append($variable, $value); }
  }

  \* Every read gives another number.
  mapping macro Counter {
    read {
      $variable := $variable + 1;
      yield $variable;
    }
    write {
      if ($value > $variable) { $variable := $value; };
      yield $variable;
    }
  }

  mapping macro Doubled {
    read { yield 2 * $variable; }
    write { yield $value \div 2; }
  }

  mapping macro Discard {
    read { yield $variable; }
    write { skip; }
  }

  \* In what order things are read and written.
  archetype AOrder(ref turn, ref next, ref mail[_], ref twice, ref lost, ref seed)
  variables x = 1, y = 2, z = <<>>, r = [a |-> 1, b |-> [c |-> <<1, 2>>]];
  {
    orderStart:
      await turn = self;
    leftToRight:
      x := next - next;
      assert x = -1;
      z := <<next, next, next>>;
      assert z = <<3, 4, 5>>;
      r := [a |-> next, b |-> [c |-> <<next, next>>]];
      assert r.b.c[1] = r.a + 1 /\ r.b.c[2] = r.a + 2;
    simultaneous:
      x := 1;
      y := 2;
      x := y || y := x;
      assert x = 2 /\ y = 1;
      Swap(x, y);
      assert x = 1 /\ y = 2;
      x := next || y := next;
      assert y = x + 1;
    sameVariable:
      z := <<1, 2, 3>>;
      z[1] := z[3] || z[3] := z[1];
      assert z = <<3, 2, 1>>;
      z[z[3]] := z[1] + 4;
      assert z = <<7, 2, 1>>;
      r.b.c[2] := r.b.c[1] + z[2];
      r.a := r.b.c[2];
      assert r.a = r.b.c[1] + 2;
    nestedIndex:
      \* mail[0] tells whose mail to read next.
      x := mail[mail[0]];
      assert x = "for one";
      assert mail[mail[0]] = "for two";
      mail[mail[0]] := "again";
      assert mail[3] = "again";
    twiceRead:
      twice := 10;
      assert twice = 10;
      twice := twice + twice;
      assert twice = 20;
      lost := "x";
      assert lost = "kept";
    lazy:
      \* What is not taken is not read.
      x := next;
      y := IF x < 0 THEN next ELSE 0;
      assert next = x + 1;
      if (x < 0 /\ next > 0) { skip; };
      assert next = x + 2;
    raise:
      next := 100;
      assert next = 101;
      next := 5;
      assert next = 102;
    copied:
      \* A value for a ref parameter is a variable of the process.
      seed := seed + self;
      assert seed = 7 + 2 * self;
      turn := self + 1;
  }

  \* Procedures with references.
  archetype ACalls(ref turn, ref total, ref cells[_], ref left)
  variables sum = 0, mine = [i \in 1..3 |-> 0], right = "r";
  {
    callsStart:
      await turn = self;
    sumLocal:
      call SumInto(ref sum, <<1, 2, 3>>);
    summed:
      assert sum = 6;
      call SumInto(ref total, <<sum, 10>>);
    summedToo:
      assert total = 32;
      call Count(ref mine[_], 1, 3);
    counted:
      assert mine = <<13, 23, 33>>;
      call Count(ref cells[_], 1, 2);
    countedToo:
      assert cells[1] = 12 /\ cells[2] = 22;
    exchanged:
      call Exchange(ref left, ref right, 3);
    last:
      assert left = "r" /\ right = "l";
      turn := self + 1;
  }

  \* Expressions.
  archetype AValues(ref turn, list, ref where[_])
  variables
    m = {}, f = <<>>, shapes = <<>>, seen = <<>>, colour = None, n = 0, bag = EmptyBag,
    some \in {3, 4}, pair = <<0, "zero">>;
  {
    valuesStart:
      await turn = self;
    operators:
      assert Factorial(5) = 120 /\ fib[10] = 55 /\ Twice(Factorial, 3) = 720;
      assert (-7) \div 2 = -4 /\ (-7) % 2 = 1 /\ 2 ++ 3 = 32;
      assert Twice(LAMBDA x : x * x, 3) = 81;
      assert SelectSeq(list, Even) = <<2, 4>> /\ SubSeq(list, 2, 3) = <<2, 3>>;
      assert Reverse(list) = <<4, 3, 2, 1>> /\ list \o <<>> = list;
      assert some \in 3..4 /\ some # list[2];
    sets:
      m := {x \in 1..6 : Even(x)};
      m := m \cup {x * x : x \in m};
      assert m = {2, 4, 6, 16, 36} /\ Max(m) = 36 /\ Cardinality(m) = 5;
      assert UNION {{1}, {2, 3}} = 1..3 /\ SUBSET {1, 2} = {{}, {1}, {2}, {1, 2}};
      assert \A x \in m : \E y \in m : x # y /\ (x + y) % 2 = 0;
      assert ~ \E <<x, y>> \in m \X m : x + y = 3;
      assert {<<x, y>> \in (1..2) \X {"a"} : x > 1} = {<<2, "a">>};
      assert (CHOOSE x \in m : x > 4) \in {6, 16, 36};
      assert Cardinality([{1, 2} -> BOOLEAN]) = 4;
      assert FoldSet(LAMBDA x, acc : x + acc, 0, m) = 64;
      assert MapThenSumSet(LAMBDA x : x, m) = 64;
    functions:
      f := [i \in {1, 2} |-> [j \in {"a", "b"} |-> i]];
      f[2]["b"] := @ + 5;
      f[1] := [f[2] EXCEPT !["a"] = @ + f[1]["b"], !["b"] = @ * 2];
      assert f[1] = [a |-> 3, b |-> 14] /\ f[2].b = 7 /\ DOMAIN f = {1, 2};
      assert f[1].a = 3 /\ <<f[1], f[2]>> = f;
      assert [x \in {1} |-> 7] = <<7>> /\ [x \in {} |-> 7] = <<>>;
      assert (1 :> "x" @@ 2 :> "y") = <<"x", "y">>;
      assert [f EXCEPT ![1].a = 0, ![2] = f[1]][2].b = 14;
    records:
      shapes := << [kind |-> "square", side |-> 3], [kind |-> "box", width |-> 2, height |-> 5], [kind |-> "point"] >>;
    areas:
      while (shapes # <<>>) {
        with (s = Head(shapes), area = Area(s)) {
          CollectTwice(seen, area);
        };
        shapes := Tail(shapes);
      };
    collected:
      assert seen = <<9, 9, 10, 10, 0, 0>>;
    choice:
      with (c \in Colours, up \in BOOLEAN) {
        await up;
        colour := c;
      };
      assert colour \in Colours /\ colour # None;
    places:
      where[colour, 1] := "there";
      where[<<colour, 2>>] := where[<<colour, 1>>];
      assert where[colour, 2] = "there";
    bags:
      bag := SetToBag({"a", "b"}) (+) SetToBag({"a"});
      assert CopiesIn("a", bag) = 2 /\ BagCardinality(bag) = 3 /\ BagIn("b", bag);
      bag := bag (-) SetToBag({"b"});
      assert BagToSet(bag) = {"a"} /\ bag = ("a" :> 2);
    branches:
      either {
        n := 1;
      } or {
        await FALSE;
      } or {
        n := 2;
        goto counting;
      };
    onlyOne:
      assert n = 1;
    counting:
      while (n < 4) {
        n := n + 1;
        if (n = 2) {
          goto counting;
        } else if (n = 3) {
          seen := Tail(seen);
        } else {
          skip;
        };
      };
    lets:
      pair := LET a == n  b(k) == k * a IN <<b(2), IF a = 4 THEN "four" ELSE "other">>;
      assert pair = <<8, "four">>;
      with (a = pair[1], b = a + 1) { n := b; };
      assert n = 9;
      print <<"tour", self, n>>;
      turn := self + 1;
  }

  variables
    turn = 1,
    ticket = 0,
    letters = [i \in 0..3 |-> CASE i = 0 -> <<1, 2, 3>> [] i = 1 -> <<"for one">> [] i = 2 -> <<"for two">> [] OTHER -> <<>>],
    half = 0,
    dropped = "kept",
    grand = 16,
    table = [i \in 1..2 |-> 0],
    leftover = "l",
    map = [at \in Colours \X (1..2) |-> ""];

  process (Order = 1) == instance AOrder(ref turn, ref ticket, ref letters[_], ref half, ref dropped, 7 + Order)
    mapping ticket via Counter
    mapping @3[_] via Queue
    mapping half via Doubled
    mapping dropped via Discard;

  process (Calls = 2) == instance ACalls(ref turn, ref grand, ref table[_], ref leftover);

  process (Values \in 3..4) == instance AValues(ref turn, <<1, 2, 3, 4>>, ref map[_]);
}
*)
-----------------------------------------------------------------------------

OneGoes == \A p \in 1..4 : pc[p] \notin {"orderStart", "callsStart", "valuesStart", "Done"} => turn = p
Ended   == (\A p \in 1..4 : pc[p] = "Done") => turn = 5

\* What some behaviours do not keep to: the second to choose chooses the other
\* colour.
Different == turn = 5 => colour[3] # colour[4]
=============================================================================
