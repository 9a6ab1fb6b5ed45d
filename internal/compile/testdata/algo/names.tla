---- MODULE names ----
EXTENDS Integers, Sequences
len(range) == Len(range) + 1
Type == {"a", "b"}
value == 3
(* --mpcal names {
    archetype func(ref map[_], chan)
        variables type = 0, select = <<>>, s = 1, tx = 2, err = 3, l1x = 4, break = [default |-> 1, go |-> 2], len2 = 0, self_ = 0, c = 0, typed = 5, stack_ = 6;
    {
    type_: type := len(select) + chan;
    init: select := Append(select, type);
    run:  with (err2 = s, i = 3, var \in Type) { s := tx || tx := err2; select := Append(select, i); };
    main: break.default := break.go + value;
        c := LET type2 == s IN LET f(int32) == int32 + type2 IN f(c);
    nil:  map[1] := map[1] + typed;
        len2 := len(<<1, 2>>);
    variables_: err := IF \E string \in 1..3 : string = err THEN 10 ELSE 20;
    }
    variables g = <<7>>;
    process (package = 0) == instance func(ref g[_], 5);
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====
