---------------------------- MODULE SequencesExt -----------------------------
EXTENDS Sequences, FiniteSets, FiniteSetsExt, Folds, Functions, Bags, TLC

ToSet(s) == {s[i] : i \in DOMAIN s}

(* How often each element occurs. *)
ToBag(s) == [x \in ToSet(s) |-> Cardinality({i \in DOMAIN s : s[i] = x})]

(* The elements of a set as a sequence, in the order of CHOOSE. *)
SetToSeq(S) ==
  LET List[T \in SUBSET S] ==
        IF T = {} THEN <<>>
        ELSE LET x == CHOOSE x \in T : TRUE IN <<x>> \o List[T \ {x}]
  IN List[S]

(* The sequences in which each element of S occurs once. *)
SetToSeqs(S) == {f \in [1..Cardinality(S) -> S] : IsInjective(f)}

(* The sequences in which elements of S occur at most once. *)
SetToAllKPermutations(S) == UNION {SetToSeqs(T) : T \in SUBSET S}

SetToSortSeq(S, Less(_, _)) == SortSeq(SetToSeq(S), Less)

TupleOf(S, n) == [1..n -> S]

SeqOf(S, n) == UNION {[1..m -> S] : m \in 0..n}

BoundedSeq(S, n) == SeqOf(S, n)

Contains(s, e) == \E i \in DOMAIN s : s[i] = e

(* Whether op holds of every element and each one after it. *)
IsSorted(s, op(_, _)) == \A i \in DOMAIN s : \A j \in (i + 1)..Len(s) : op(s[i], s[j])

Reverse(s) == [i \in 1..Len(s) |-> s[Len(s) - i + 1]]

(* Without any element e. *)
Remove(s, e) == SelectSeq(s, LAMBDA x : x /= e)

ReplaceAll(s, old, new) == [i \in DOMAIN s |-> IF s[i] = old THEN new ELSE s[i]]

(* The first place, or the last, whose element satisfies Test; 0 where none does. *)
SelectInSeq(s, Test(_)) ==
  LET I == {i \in DOMAIN s : Test(s[i])} IN IF I = {} THEN 0 ELSE Min(I)

SelectLastInSeq(s, Test(_)) ==
  LET I == {i \in DOMAIN s : Test(s[i])} IN IF I = {} THEN 0 ELSE Max(I)

(* The same in a part of s; places are counted from the part's beginning. *)
SelectInSubSeq(s, from, to, Test(_)) == SelectInSeq(SubSeq(s, from, to), Test)

SelectLastInSubSeq(s, from, to, Test(_)) == SelectLastInSeq(SubSeq(s, from, to), Test)

InsertAt(s, i, e) == SubSeq(s, 1, i - 1) \o <<e>> \o SubSeq(s, i, Len(s))

ReplaceAt(s, i, e) == [s EXCEPT ![i] = e]

RemoveAt(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))

RemoveFirstMatch(s, Test(_)) ==
  IF \E i \in DOMAIN s : Test(s[i]) THEN RemoveAt(s, SelectInSeq(s, Test)) ELSE s

RemoveFirst(s, e) == RemoveFirstMatch(s, LAMBDA x : x = e)

Cons(e, s) == <<e>> \o s

Snoc(e, s) == Append(s, e)

Front(s) == SubSeq(s, 1, Len(s) - 1)

Last(s) == s[Len(s)]

IsPrefix(s, t) == Len(s) <= Len(t) /\ \A i \in DOMAIN s : s[i] = t[i]

IsStrictPrefix(s, t) == IsPrefix(s, t) /\ s /= t

IsSuffix(s, t) == IsPrefix(Reverse(s), Reverse(t))

IsStrictSuffix(s, t) == IsSuffix(s, t) /\ s /= t

Prefixes(s) == {SubSeq(s, 1, n) : n \in 0..Len(s)}

Suffixes(s) == {SubSeq(s, n, Len(s)) : n \in 1..(Len(s) + 1)}

(* Of a set of sequences: the prefixes that all of them have. *)
CommonPrefixes(S) ==
  IF S = {} THEN {<<>>}
  ELSE LET P == UNION {Prefixes(s) : s \in S} IN {p \in P : \A s \in S : IsPrefix(p, s)}

LongestCommonPrefix(S) ==
  CHOOSE p \in CommonPrefixes(S) : \A q \in CommonPrefixes(S) : Len(q) <= Len(p)

(* The remainder of a by b, counted from 1 to b. *)
SeqMod(a, b) == IF a % b = 0 THEN b ELSE a % b

a %% b == SeqMod(a, b)

FoldSeq(op(_, _), base, s) == FoldFunction(op, base, s)

(* op(op(base, s[1]), s[2]) ... *)
FoldLeft(op(_, _), base, s) ==
  LET Upto[i \in 0..Len(s)] == IF i = 0 THEN base ELSE op(Upto[i - 1], s[i])
  IN Upto[Len(s)]

(* op(s[1], op(s[2], ... base)) *)
FoldRight(op(_, _), s, base) ==
  LET From[i \in 1..(Len(s) + 1)] == IF i > Len(s) THEN base ELSE op(s[i], From[i + 1])
  IN From[1]

FoldLeftDomain(op(_, _), base, s) == FoldLeft(op, base, [i \in DOMAIN s |-> i])

FoldRightDomain(op(_, _), s, base) == FoldRight(op, [i \in DOMAIN s |-> i], base)

FlattenSeq(ss) == FoldLeft(LAMBDA x, y : x \o y, <<>>, ss)

(* Two sequences as a sequence of pairs, as long as the shorter one. *)
Zip(s, t) == [i \in (DOMAIN s) \cap (DOMAIN t) |-> <<s[i], t[i]>>]

(* Of two sequences of one length the elements in turn, each in a sequence of its own. *)
Interleave(s, t) ==
  FlattenSeq([i \in 1..(IF Len(s) = Len(t) THEN Len(s) ELSE Len(Head(<<>>))) |-> <<<<s[i]>>, <<t[i]>>>>])

(* The contiguous parts of s, and all that is left when elements are dropped. *)
SubSeqs(s) == {SubSeq(s, i + 1, j) : i \in 0..Len(s), j \in 0..Len(s)}

AllSubSeqs(s) ==
  {LET Part[i \in 0..Len(s)] ==
         IF i = 0 THEN <<>> ELSE IF i \in D THEN Append(Part[i - 1], s[i]) ELSE Part[i - 1]
   IN Part[Len(s)] : D \in SUBSET DOMAIN s}

(* Where s first occurs as a part of t. *)
IndexFirstSubSeq(s, t) ==
  CHOOSE i \in 1..(Len(t) + 1) :
    /\ IsPrefix(s, SubSeq(t, i, Len(t)))
    /\ \A j \in 1..(i - 1) : ~ IsPrefix(s, SubSeq(t, j, Len(t)))

(* t with r in the place of the part s that starts at place i. *)
ReplaceSubSeqAt(i, r, s, t) == SubSeq(t, 1, i - 1) \o r \o SubSeq(t, i + Len(s), Len(t))

(* t with r in the place of s the first time that s occurs. *)
ReplaceFirstSubSeq(r, s, t) ==
  IF s \in SubSeqs(t) THEN ReplaceSubSeqAt(IndexFirstSubSeq(s, t), r, s, t) ELSE t

(* t with r in the place of s every time, found from the left. The empty        *)
(* sequence occurs before each element.                                         *)
RECURSIVE ReplaceAllSubSeqs(_, _, _)
ReplaceAllSubSeqs(r, s, t) ==
  IF t = <<>> THEN IF s = <<>> THEN r ELSE t
  ELSE IF s = <<>> THEN FlattenSeq([i \in DOMAIN t |-> r \o <<t[i]>>])
  ELSE IF s \notin SubSeqs(t) THEN t
  ELSE LET i == IndexFirstSubSeq(s, t)
           rest == SubSeq(t, i + Len(s), Len(t))
       IN SubSeq(t, 1, i - 1) \o r \o (IF rest = <<>> THEN rest ELSE ReplaceAllSubSeqs(r, s, rest))
=============================================================================
