// SPDX-License-Identifier: Apache-2.0

package stdlib

// cases has a line for each call: module, operator, arguments and result,
// separated by " | ". Arguments are the texts of values, or @name for one of the
// operators below. A result that starts with "!" is part of an error message. A
// result that starts with "?" comes from Go only: the definition in TLA+ has
// none.
const cases = `
Naturals | Nat | Nat
Naturals | + | 2 | 3 | 5
Naturals | + | 2147483647 | 1 | !2147483647 + 1 does not fit in 32 bits
Naturals | + | 1 | "a" | !the right operand must be an integer, found the string "a"
Naturals | - | 2 | 3 | -1
Naturals | * | -4 | 3 | -12
Naturals | * | 65536 | 65536 | !does not fit
Naturals | ^ | 2 | 30 | 1073741824
Naturals | ^ | -2 | 31 | -2147483648
Naturals | ^ | 2 | 31 | !does not fit
Naturals | ^ | 2 | -1 | !must not be negative
Naturals | ^ | 0 | 0 | !undefined
Naturals | ^ | 7 | 0 | 1
Naturals | ^ | -1 | 31 | -1
Naturals | < | 2 | 3 | TRUE
Naturals | <= | 3 | 3 | TRUE
Naturals | > | 2 | 3 | FALSE
Naturals | >= | 2 | 3 | FALSE
Naturals | < | m | 3 | !found the model value m
Naturals | .. | 2 | 4 | {2, 3, 4}
Naturals | .. | 3 | 2 | {}
Naturals | .. | "a" | 2 | !the left operand must be an integer
Naturals | \div | 7 | 2 | 3
Naturals | \div | -7 | 2 | -4
Naturals | \div | -1 | 2 | -1
Naturals | \div | 7 | -2 | -4
Naturals | \div | 7 | 0 | !division by zero
Naturals | \div | -2147483648 | -1 | !does not fit
Naturals | % | -1 | 2 | 1
Naturals | % | 7 | 3 | 1
Naturals | % | 7 | 0 | !must be positive
Integers | Int | Int
Integers | -. | 5 | -5
Integers | -. | -2147483648 | !does not fit
Reals | Real | Real
Reals | Infinity | !Infinity
Reals | / | 6 | 3 | 2
Reals | / | 5 | 3 | !not an integer
Reals | / | 5 | 0 | !division by zero

Bitwise | & | 12 | 10 | 8
Bitwise | | | 12 | 10 | 14
Bitwise | ^^ | 12 | 10 | 6
Bitwise | & | -1 | 10 | !expected a natural number
Bitwise | Not | 5 | 2
Bitwise | Not | 0 | 0
Bitwise | Not | 1 | 0
Bitwise | Not | 8 | 7
Bitwise | Not | 2147483647 | 0
Bitwise | Not | -1 | !natural
Bitwise | shiftR | 13 | 2 | 3
Bitwise | shiftR | 13 | 99 | 0
Bitwise | shiftL | 13 | 2 | 52
Bitwise | shiftL | 0 | 99 | 0
Bitwise | shiftL | 13 | 31 | !does not fit

DyadicRationals | IsDyadicRational | [num |-> 3, den |-> 8] | TRUE
DyadicRationals | IsDyadicRational | [num |-> 3, den |-> 6] | FALSE
DyadicRationals | Add | [num |-> 1, den |-> 4] | [num |-> 1, den |-> 4] | [den |-> 2, num |-> 1]
DyadicRationals | Add | [num |-> 0, den |-> 1] | [num |-> 2, den |-> 4] | [den |-> 4, num |-> 2]
DyadicRationals | Half | [num |-> 2, den |-> 1] | [den |-> 1, num |-> 1]
DyadicRationals | Reduce | [num |-> 12, den |-> 8] | [den |-> 2, num |-> 3]

Sequences | Seq | {1} | Seq({1})
Sequences | Len | <<1, 2>> | 2
Sequences | Len | "abc" | ?3
Sequences | Len | {1} | !Len: expected a sequence, found the set {1}
Sequences | \o | <<1>> | <<2, 3>> | <<1, 2, 3>>
Sequences | \o | "ab" | "c" | ?"abc"
Sequences | \o | <<1>> | 2 | !expected a sequence
Sequences | Append | <<1>> | 2 | <<1, 2>>
Sequences | Append | 1 | 2 | !Append: expected a sequence
Sequences | Head | <<1, 2>> | 1
Sequences | Head | <<>> | !Head of the empty sequence
Sequences | Tail | <<1, 2>> | <<2>>
Sequences | Tail | <<>> | !Tail of the empty sequence
Sequences | SubSeq | <<1, 2, 3>> | 2 | 3 | <<2, 3>>
Sequences | SubSeq | <<1, 2, 3>> | 3 | 2 | <<>>
Sequences | SubSeq | <<1, 2, 3>> | 0 | 2 | !must lie in 1..3
Sequences | SubSeq | "abc" | 2 | 2 | ?"b"
Sequences | SelectSeq | <<1, 2, 3, 4>> | @even | <<2, 4>>
Sequences | SelectSeq | <<2, 4>> | @even | <<2, 4>>
Sequences | SelectSeq | <<1>> | @same | !must give a boolean

SequencesExt | ToSet | <<1, 2, 1>> | {1, 2}
SequencesExt | SetToSeq | {3, 1, 2} | <<1, 2, 3>>
SequencesExt | SetToSeqs | {1, 2} | {<<1, 2>>, <<2, 1>>}
SequencesExt | SetToSeqs | 1..12 | !more than 1000000 elements
SequencesExt | SetToAllKPermutations | {1, 2} | {<<>>, <<1>>, <<2>>, <<1, 2>>, <<2, 1>>}
SequencesExt | SetToSortSeq | {1, 2, 3} | @greater | <<3, 2, 1>>
SequencesExt | TupleOf | {0, 1} | 2 | [{1, 2} -> {0, 1}]
SequencesExt | SeqOf | {0, 1} | 1 | {<<>>, <<0>>, <<1>>}
SequencesExt | BoundedSeq | {0} | 2 | {<<>>, <<0>>, <<0, 0>>}
SequencesExt | Contains | <<1, 2>> | 2 | TRUE
SequencesExt | Contains | <<1, 2>> | 3 | FALSE
SequencesExt | Reverse | <<1, 2, 3>> | <<3, 2, 1>>
SequencesExt | Remove | <<1, 2, 1>> | 1 | <<2>>
SequencesExt | ReplaceAll | <<1, 2, 1>> | 1 | 9 | <<9, 2, 9>>
SequencesExt | SelectInSeq | <<1, 2, 4>> | @even | 2
SequencesExt | SelectInSeq | <<1>> | @even | 0
SequencesExt | SelectLastInSeq | <<1, 2, 4, 5>> | @even | 3
SequencesExt | SelectLastInSeq | <<1>> | @even | 0
SequencesExt | InsertAt | <<1, 2>> | 2 | 9 | <<1, 9, 2>>
SequencesExt | InsertAt | <<1, 2>> | 3 | 9 | <<1, 2, 9>>
SequencesExt | InsertAt | <<1, 2>> | 4 | 9 | !the place 4 is not in 1..3
SequencesExt | ReplaceAt | <<1, 2>> | 2 | 9 | <<1, 9>>
SequencesExt | RemoveAt | <<1, 2, 3>> | 2 | <<1, 3>>
SequencesExt | RemoveFirst | <<1, 2, 1>> | 1 | <<2, 1>>
SequencesExt | RemoveFirst | <<1>> | 3 | <<1>>
SequencesExt | RemoveFirstMatch | <<1, 2, 4>> | @even | <<1, 4>>
SequencesExt | Cons | 1 | <<2>> | <<1, 2>>
SequencesExt | Snoc | 1 | <<2>> | <<2, 1>>
SequencesExt | Snoc | <<2>> | 1 | !expected a sequence
SequencesExt | Front | <<1, 2>> | <<1>>
SequencesExt | Last | <<1, 2>> | 2
SequencesExt | Last | <<>> | !Last of the empty sequence
SequencesExt | FoldSeq | @minus | 0 | <<10, 3>> | 7
SequencesExt | FoldLeft | @minus | 0 | <<10, 3>> | -13
SequencesExt | FoldRight | @minus | <<10, 3>> | 0 | 7
SequencesExt | FoldLeftDomain | @minus | 0 | <<7, 7>> | -3
SequencesExt | FoldRightDomain | @minus | <<7, 7>> | 0 | -1
SequencesExt | IsPrefix | <<1>> | <<1, 2>> | TRUE
SequencesExt | IsPrefix | <<1, 2>> | <<1, 2>> | TRUE
SequencesExt | IsPrefix | <<2>> | <<1, 2>> | FALSE
SequencesExt | IsStrictPrefix | <<1, 2>> | <<1, 2>> | FALSE
SequencesExt | IsStrictPrefix | <<1>> | <<1, 2>> | TRUE
SequencesExt | IsSuffix | <<2>> | <<1, 2>> | TRUE
SequencesExt | IsStrictSuffix | <<1, 2>> | <<1, 2>> | FALSE
SequencesExt | Prefixes | <<1, 2>> | {<<>>, <<1>>, <<1, 2>>}
SequencesExt | Suffixes | <<1, 2>> | {<<>>, <<2>>, <<1, 2>>}
SequencesExt | CommonPrefixes | {<<1, 2>>, <<1, 3>>} | {<<>>, <<1>>}
SequencesExt | LongestCommonPrefix | {<<1, 2, 4>>, <<1, 2, 3>>} | <<1, 2>>
SequencesExt | LongestCommonPrefix | {} | <<>>
SequencesExt | FlattenSeq | <<<<1>>, <<>>, <<2, 3>>>> | <<1, 2, 3>>
SequencesExt | Zip | <<1, 2>> | <<3, 4>> | <<<<1, 3>>, <<2, 4>>>>
SequencesExt | Zip | <<1, 2>> | <<3>> | <<<<1, 3>>>>
SequencesExt | Zip | <<>> | <<3>> | <<>>
SequencesExt | Interleave | <<1, 2>> | <<3, 4>> | <<<<1>>, <<3>>, <<2>>, <<4>>>>
SequencesExt | Interleave | <<1, 2>> | <<3>> | !expected as many
SequencesExt | Interleave | <<>> | <<>> | <<>>
SequencesExt | SubSeqs | <<1, 2>> | {<<>>, <<1>>, <<2>>, <<1, 2>>}
SequencesExt | AllSubSeqs | <<1, 2, 3>> | {<<>>, <<1>>, <<2>>, <<3>>, <<1, 2>>, <<1, 3>>, <<2, 3>>, <<1, 2, 3>>}
SequencesExt | IndexFirstSubSeq | <<2>> | <<1, 2, 2>> | 2
SequencesExt | IndexFirstSubSeq | <<3>> | <<1, 2, 2>> | !no part
SequencesExt | ReplaceFirstSubSeq | <<9>> | <<2>> | <<1, 2, 2>> | <<1, 9, 2>>
SequencesExt | ReplaceAllSubSeqs | <<9>> | <<2>> | <<1, 2, 2>> | <<1, 9, 9>>
SequencesExt | ReplaceFirstSubSeq | <<9>> | <<3>> | <<1, 2, 2>> | <<1, 2, 2>>
SequencesExt | ReplaceFirstSubSeq | <<9>> | <<>> | <<1, 2>> | <<9, 1, 2>>
SequencesExt | ReplaceFirstSubSeq | "12" | "%n%" | "test %n%%n%" | ?"test 12%n%"
SequencesExt | ReplaceAllSubSeqs | <<9>> | <<>> | <<1, 2>> | <<9, 1, 9, 2>>
SequencesExt | ReplaceAllSubSeqs | <<4>> | <<>> | <<>> | <<4>>
SequencesExt | ReplaceAllSubSeqs | <<>> | <<>> | <<>> | <<>>
SequencesExt | ReplaceAllSubSeqs | <<2>> | <<3>> | <<1, 3>> | <<1, 2>>
SequencesExt | ReplaceAllSubSeqs | <<2, 2>> | <<1, 1>> | <<1, 1, 1>> | <<2, 2, 1>>
SequencesExt | ReplaceAllSubSeqs | <<1, 1>> | <<1>> | <<1, 2, 1>> | <<1, 1, 2, 1, 1>>
SequencesExt | ReplaceAllSubSeqs | "-" | "" | "ab" | ?"-a-b"
SequencesExt | ReplaceAllSubSeqs | "-" | "" | "" | ?"-"
SequencesExt | ReplaceAllSubSeqs | "" | "a" | "banana" | ?"bnn"
SequencesExt | FlattenSeq | <<"a", "bc">> | ?"abc"
SequencesExt | FlattenSeq | <<"a", 1>> | !expected a string
SequencesExt | IndexFirstSubSeq | "na" | "banana" | ?3
SequencesExt | %% | 6 | 3 | 3
SequencesExt | %% | 7 | 3 | 1

FiniteSets | Cardinality | {1, 2} | 2
FiniteSets | Cardinality | SUBSET (1..5) | 32
FiniteSets | Cardinality | SUBSET (1..40) | !does not fit
FiniteSets | Cardinality | Nat | !infinite
FiniteSets | Cardinality | <<1>> | !expected a set
FiniteSets | IsFiniteSet | {1} | TRUE
FiniteSets | IsFiniteSet | Seq({1}) | FALSE

FiniteSetsExt | FoldSet | @minus | 0 | {1, 2, 4} | 3
FiniteSetsExt | ReduceSet | @minus | {1, 2, 4} | 0 | 3
FiniteSetsExt | SumSet | {1, 2, 4} | 7
FiniteSetsExt | ProductSet | {2, 3, 4} | 24
FiniteSetsExt | MapThenSumSet | @double | {1, 2} | 6
FiniteSetsExt | FlattenSet | {{1}, {2, 3}} | {1, 2, 3}
FiniteSetsExt | SymDiff | {1, 2} | {2, 3} | {1, 3}
FiniteSetsExt | Quantify | {1, 2, 4} | @even | 2
FiniteSetsExt | kSubset | 2 | {1, 2, 3} | {{1, 2}, {1, 3}, {2, 3}}
FiniteSetsExt | kSubset | 4 | {1} | {}
FiniteSetsExt | kSubset | 20 | 1..40 | !more than 1000000
FiniteSetsExt | Choices | {{1, 2}, {3}} | {{1, 3}, {2, 3}}
FiniteSetsExt | Choices | {{1, 2}, {2, 3}, {5}} | {{2, 5}, {1, 2, 5}, {1, 3, 5}, {2, 3, 5}}
FiniteSetsExt | Choices | {{1, 2}, {}} | {}
FiniteSetsExt | Choices | {} | {{}}
FiniteSetsExt | ChooseUnique | {1, 2, 3} | @even | 2
FiniteSetsExt | ChooseUnique | {2, 4} | @even | !both 2 and 4
FiniteSetsExt | ChooseUnique | {1} | @even | !no element
FiniteSetsExt | Max | {1, 5, 3} | 5
FiniteSetsExt | Max | 1..100 | 100
FiniteSetsExt | Min | {4, 5, 3} | 3
FiniteSetsExt | Min | {} | !of the empty set

Folds | MapThenFoldSet | @minus | 0 | @double | @first | {1, 2, 4} | 6

Functions | Restrict | <<5, 6, 7>> | {1, 3} | (1 :> 5 @@ 3 :> 7)
Functions | Restrict | <<5>> | {2} | !not in its domain
Functions | RestrictDomain | <<5, 6, 7>> | @even | (2 :> 6)
Functions | RestrictValues | <<5, 6, 7>> | @even | (2 :> 6)
Functions | IsRestriction | <<5>> | <<5, 6>> | TRUE
Functions | IsRestriction | <<6>> | <<5, 6>> | FALSE
Functions | Range | <<5, 6, 5>> | {5, 6}
Functions | Pointwise | <<5, 6>> | <<1, 2>> | @minus | <<4, 4>>
Functions | Inverse | <<5, 6>> | {1, 2} | {5, 7} | (5 :> 1 @@ 7 :> 1)
Functions | AntiFunction | <<5, 6>> | (5 :> 1 @@ 6 :> 2)
Functions | IsInjective | <<5, 6, 5>> | FALSE
Functions | Injection | {1, 2} | {1, 2} | {<<1, 2>>, <<2, 1>>}
Functions | Surjection | {1, 2} | {1} | {<<1, 1>>}
Functions | Bijection | {1, 2} | {7, 8} | {<<7, 8>>, <<8, 7>>}
Functions | ExistsInjection | {1, 2} | {1} | FALSE
Functions | ExistsSurjection | {1, 2} | {1} | TRUE
Functions | ExistsSurjection | {1} | {} | FALSE
Functions | ExistsSurjection | {} | {} | TRUE
Functions | ExistsBijection | {1, 2} | {5, 6} | TRUE
Functions | FoldFunction | @minus | 0 | <<10, 3>> | 7
Functions | FoldFunctionOnSet | @minus | 0 | <<10, 3, 9>> | {1, 3} | 1

Relation | IsReflexiveUnder | @leq | {1, 2} | TRUE
Relation | IsIrreflexiveUnder | @leq | {1, 2} | FALSE
Relation | IsSymmetricUnder | @leq | {1, 2} | FALSE
Relation | IsAntiSymmetricUnder | @leq | {1, 2} | TRUE
Relation | IsAsymmetricUnder | @greater | {1, 2} | TRUE
Relation | IsTransitiveUnder | @leq | {1, 2, 3} | TRUE
Relation | IsTransitiveUnder | @next | {1, 2, 3} | FALSE
Relation | IsPartiallyOrderedUnder | @leq | {1, 2} | TRUE
Relation | IsStrictlyPartiallyOrderedUnder | @greater | {1, 2} | TRUE
Relation | IsTotallyOrderedUnder | @leq | {1, 2} | TRUE
Relation | IsStrictlyTotallyOrderedUnder | @greater | {1, 2} | TRUE
Relation | IsStrictlyTotallyOrderedUnder | @leq | {1, 2} | FALSE
Relation | IsReflexive | R | {1, 2} | FALSE
Relation | IsIrreflexive | R | {1, 2} | TRUE
Relation | IsSymmetric | R | {1, 2} | FALSE
Relation | IsAntiSymmetric | R | {1, 2} | TRUE
Relation | IsAsymmetric | R | {1, 2} | TRUE
Relation | IsTransitive | R | {1, 2} | TRUE
Relation | IsPartiallyOrdered | R | {1, 2} | FALSE
Relation | IsStrictlyPartiallyOrdered | R | {1, 2} | TRUE
Relation | IsTotallyOrdered | R | {1, 2} | FALSE
Relation | IsStrictlyTotallyOrdered | R | {1, 2} | TRUE
Relation | TransitiveClosure | R3 | {1, 2, 3} | (<<1, 1>> :> FALSE @@ <<1, 2>> :> TRUE @@ <<1, 3>> :> TRUE @@ <<2, 1>> :> FALSE @@ <<2, 2>> :> FALSE @@ <<2, 3>> :> TRUE @@ <<3, 1>> :> FALSE @@ <<3, 2>> :> FALSE @@ <<3, 3>> :> FALSE)
Relation | ReflexiveTransitiveClosure | R | {1, 2} | (<<1, 1>> :> TRUE @@ <<1, 2>> :> TRUE @@ <<2, 1>> :> FALSE @@ <<2, 2>> :> TRUE)
Relation | IsConnected | R | {1, 2} | FALSE
Relation | IsReflexive | <<>> | 1..3000 | !at most 2000

Bags | IsABag | (a :> 2) | TRUE
Bags | IsABag | (a :> 0) | FALSE
Bags | IsABag | 5 | ?FALSE
Bags | BagToSet | (a :> 2) | {a}
Bags | SetToBag | {a, b} | (a :> 1 @@ b :> 1)
Bags | BagIn | a | (a :> 2) | TRUE
Bags | BagIn | b | (a :> 2) | FALSE
Bags | EmptyBag | <<>>
Bags | CopiesIn | a | (a :> 2) | 2
Bags | CopiesIn | b | (a :> 2) | 0
Bags | (+) | (a :> 2) | (a :> 1 @@ b :> 1) | (a :> 3 @@ b :> 1)
Bags | (-) | (a :> 2 @@ b :> 1) | (a :> 1 @@ b :> 1) | (a :> 1)
Bags | BagUnion | {(a :> 2), (a :> 1)} | (a :> 3)
Bags | \sqsubseteq | (a :> 2) | (a :> 3) | TRUE
Bags | \sqsubseteq | (a :> 2) | (b :> 3) | FALSE
Bags | SubBag | (a :> 2) | {<<>>, (a :> 1), (a :> 2)}
Bags | SubBag | (1 :> 1000 @@ 2 :> 1000) | !more than 1000000
Bags | BagOfAll | @same | (a :> 2 @@ b :> 3) | (a :> 2 @@ b :> 3)
Bags | BagOfAll | @one | (a :> 2 @@ b :> 3) | <<5>>
Bags | BagCardinality | (a :> 2 @@ b :> 3) | 5
BagsExt | BagAdd | (a :> 2) | a | (a :> 3)
BagsExt | BagRemove | (a :> 1) | a | <<>>
BagsExt | BagRemoveAll | (a :> 2 @@ b :> 3) | b | (a :> 2)
BagsExt | FoldBag | @minus | 0 | (5 :> 2 @@ 3 :> 1) | 3
BagsExt | SumBag | (5 :> 2 @@ 3 :> 1) | 13
BagsExt | ProductBag | (5 :> 2 @@ 3 :> 1) | 75

TLC | Print | 1 | "x" | "x"
TLC | PrintT | "x" | TRUE
TLC | Assert | TRUE | "x" | TRUE
TLC | Assert | FALSE | "boom" | !assertion failed: boom
TLC | Assert | 1 | "boom" | !expected a boolean
TLC | JavaTime | 42
TLC | TLCSet | 1 | 7 | TRUE
TLC | TLCGet | 1 | 7
TLC | TLCGet | 2 | !TLCGet(2): it has no value
TLC | :> | a | 1 | (a :> 1)
TLC | :> | 1 | 5 | <<5>>
TLC | @@ | <<5>> | <<6, 7>> | <<5, 7>>
TLC | @@ | 1 | <<6, 7>> | !is not a function
TLC | Permutations | {a, b} | {(a :> a @@ b :> b), (a :> b @@ b :> a)}
TLC | SortSeq | <<3, 1, 2>> | @greater | <<3, 2, 1>>
TLC | RandomElement | {4} | 4
TLC | RandomElement | {} | !of the empty set
TLC | Any | Any
TLC | ToString | <<1, "a">> | "<<1, \"a\">>"
TLC | TLCEval | SUBSET {1} | {{}, {1}}

TLCExt | AssertEq | 1 | 1 | TRUE
TLCExt | AssertEq | 1 | 2 | FALSE
TLCExt | AssertError | "gone" | @one | TRUE
TLCExt | AssertError | "there is nothing" | @nothing | TRUE
TLCExt | AssertError | "gone" | @nothing | !the error is "there is nothing", and not "gone"
TLCExt | AssertError | 1 | @nothing | !AssertError
TLCExt | Trace | <<[x |-> 1]>>
TLCExt | TLCModelValue | "mv" | mv
TLCExt | TLCCache | 1 | 2 | 1
TLCExt | TLCGetOrDefault | 1 | 9 | 7
TLCExt | TLCGetOrDefault | 3 | 9 | 9
TLCExt | TLCGetAndSet | 3 | @minus | 2 | 10 | 10
TLCExt | TLCGetOrDefault | 3 | 0 | 8
TLCExt | TLCFP | {1, 2} | TLCFP

Randomization | RandomSubset | 2 | {7, 8} | {7, 8}
Randomization | RandomSubset | 0 | {7, 8} | {}
Randomization | RandomSubset | 3 | {7, 8} | {7, 8}
Randomization | RandomSubset | 2147483647 | {7, 8} | {7, 8}
Randomization | RandomSubset | -1 | {7, 8} | !natural
Randomization | RandomSetOfSubsets | 3 | 2 | {7, 8} | {{7, 8}}
Randomization | RandomSetOfSubsets | 3 | 5 | {7, 8} | !the set has 2 elements
Randomization | TestRandomSetOfSubsets | 3 | 0 | {7, 8} | <<1, 1, 1, 1, 1>>

Graphs | IsDirectedGraph | [node |-> {1, 2}, edge |-> {<<1, 2>>}] | TRUE
Graphs | IsDirectedGraph | [node |-> {1}, edge |-> {<<1, 2>>}] | FALSE
Graphs | IsDirectedGraph | 1 | ?FALSE
Graphs | DirectedSubgraph | [node |-> {1}, edge |-> {<<1, 1>>}] | {[edge |-> {}, node |-> {}], [edge |-> {}, node |-> {1}], [edge |-> {<<1, 1>>}, node |-> {1}]}
Graphs | Transpose | [node |-> {1, 2}, edge |-> {<<1, 2>>}] | [edge |-> {<<2, 1>>}, node |-> {1, 2}]
Graphs | SimplePath | [node |-> {1, 2}, edge |-> {<<1, 2>>, <<2, 1>>}] | {<<1>>, <<2>>, <<1, 2>>, <<2, 1>>}
Graphs | AreConnectedIn | 1 | 3 | [node |-> {1, 2, 3}, edge |-> {<<1, 2>>, <<2, 3>>}] | TRUE
Graphs | AreConnectedIn | 3 | 1 | [node |-> {1, 2, 3}, edge |-> {<<1, 2>>, <<2, 3>>}] | FALSE
Graphs | IsStronglyConnected | [node |-> {1, 2}, edge |-> {<<1, 2>>}] | FALSE
Graphs | IsStronglyConnected | [node |-> {1, 2}, edge |-> {<<1, 2>>, <<2, 1>>}] | TRUE
Graphs | IsTreeWithRoot | [node |-> {1, 2, 3}, edge |-> {<<2, 1>>, <<3, 1>>}] | 1 | TRUE
Graphs | IsTreeWithRoot | [node |-> {1, 2, 3}, edge |-> {<<2, 3>>, <<3, 2>>}] | 1 | FALSE
Graphs | EmptyGraph | [edge |-> {}, node |-> {}]
Graphs | Graphs | {1} | [edge: SUBSET ({1} \X {1}), node: {{1}}]
Graphs | Successors | [node |-> {1, 2, 3}, edge |-> {<<1, 2>>, <<2, 3>>}] | 1 | {2}
Graphs | Predecessors | [node |-> {1, 2, 3}, edge |-> {<<1, 2>>, <<2, 3>>}] | 3 | {2}
Graphs | Descendants | [node |-> {1, 2, 3}, edge |-> {<<1, 2>>, <<2, 3>>}] | 1 | {2, 3}
Graphs | Ancestors | [node |-> {1, 2, 3}, edge |-> {<<1, 2>>, <<2, 3>>}] | 3 | {1, 2}

UndirectedGraphs | IsUndirectedGraph | [node |-> {1, 2}, edge |-> {{1, 2}, {1}}] | TRUE
UndirectedGraphs | IsUndirectedGraph | [node |-> {1}, edge |-> {{1, 2}}] | FALSE
UndirectedGraphs | IsLoopFreeUndirectedGraph | [node |-> {1, 2}, edge |-> {{1, 2}, {1}}] | FALSE
UndirectedGraphs | IsLoopFreeUndirectedGraph | [node |-> {1, 2}, edge |-> {{1, 2}}] | TRUE
UndirectedGraphs | UndirectedSubgraph | [node |-> {1, 2}, edge |-> {}] | {[edge |-> {}, node |-> {}], [edge |-> {}, node |-> {1}], [edge |-> {}, node |-> {2}], [edge |-> {}, node |-> {1, 2}]}
UndirectedGraphs | SimplePath | [node |-> {1, 2}, edge |-> {{1, 2}}] | {<<1>>, <<2>>, <<1, 2>>, <<2, 1>>}
UndirectedGraphs | AreConnectedIn | 3 | 1 | [node |-> {1, 2, 3}, edge |-> {{1, 2}, {2, 3}}] | TRUE
UndirectedGraphs | ConnectedComponents | [node |-> {1, 2, 3}, edge |-> {{2, 3}}] | {{1}, {2, 3}}
UndirectedGraphs | IsStronglyConnected | [node |-> {1, 2, 3}, edge |-> {{2, 3}}] | FALSE
UndirectedGraphs | IsStronglyConnected | [node |-> {}, edge |-> {}] | TRUE

IOUtils | IOSerialize | {1, "a"} | "f.bin" | FALSE | !cannot compare
IOUtils | IOSerialize | {1, 2} | "f.bin" | FALSE | TRUE
IOUtils | IODeserialize | "f.bin" | FALSE | {1, 2}
IOUtils | IODeserialize | "gone" | FALSE | !IODeserialize("gone"): no such file
IOUtils | Serialize | "one;" | "f.txt" | [format |-> "TXT"] | [exitValue |-> 0, stderr |-> "", stdout |-> ""]
IOUtils | Serialize | 2 | "f.txt" | [openOptions |-> <<"WRITE", "APPEND">>] | [exitValue |-> 0, stderr |-> "", stdout |-> ""]
IOUtils | Deserialize | "f.txt" | [format |-> "TXT"] | [exitValue |-> 0, stderr |-> "", stdout |-> "one;2"]
IOUtils | IODeserialize | "f.txt" | FALSE | !no value that IOSerialize wrote
IOUtils | IOExec | <<"echo", 1>> | [exitValue |-> 3, stderr |-> "", stdout |-> "echo 1"]
IOUtils | IOExec | <<>> | !the command is empty
IOUtils | IOEnvExec | [A |-> "b"] | <<"echo">> | [exitValue |-> 3, stderr |-> "A=b", stdout |-> "echo"]
IOUtils | IOExecTemplate | <<"echo", "%s-%1$s">> | <<5>> | [exitValue |-> 3, stderr |-> "", stdout |-> "echo 5-5"]
IOUtils | IOEnvExecTemplate | [A |-> "b"] | "echo %s" | <<5>> | [exitValue |-> 3, stderr |-> "A=b", stdout |-> "echo 5"]
IOUtils | IOEnv | [HOME |-> "/h"]
IOUtils | atoi | "-12" | -12
IOUtils | atoi | "x" | !expected the digits
IOUtils | zeroPadN | 7 | 3 | "007"
IOUtils | zeroPadN | 1234 | 3 | "1234"

Json | ToJson | [a |-> {1, 2}, b |-> <<TRUE, "x", m>>] | "{\"a\":[1,2],\"b\":[true,\"x\",\"m\"]}"
Json | ToJson | (0 :> "z") | "{\"0\":\"z\"}"
Json | ToJsonArray | {1, 2} | "[1,2]"
Json | ToJsonObject | <<5>> | "{\"1\":5}"
Json | JsonSerialize | "f.json" | [a |-> <<1>>] | TRUE
Json | JsonDeserialize | "f.json" | [a |-> <<1>>]
Json | ndJsonSerialize | "n.json" | <<1, <<"x">>>> | TRUE
Json | ndJsonDeserialize | "n.json" | <<1, <<"x">>>>
Json | JsonDeserialize | "n.json" | !expected one value, found 2
Json | JsonDeserialize | "gone" | !no such file
Json | JsonDeserialize | "bad.json" | !not an integer of 32 bits
Json | JsonDeserialize | "null.json" | !null is no value
Json | JsonDeserialize | "cut.json" | !unexpected

CSV | CSVWrite | "%1$s#%2$s#%1$s%%" | <<1, "b">> | "f.csv" | TRUE
CSV | CSVWrite | "%s#%s" | <<3, "d">> | "f.csv" | TRUE
CSV | CSVRecords | "f.csv" | 2
CSV | CSVRead | <<"x", "y">> | "#" | "f.csv" | <<[x |-> "1", y |-> "b"], [x |-> "3", y |-> "d"]>>
CSV | CSVRecords | "gone.csv" | 0
CSV | CSVWriteRecord | [x |-> 1, y |-> "b"] | ";" | TRUE | "r.csv" | TRUE
CSV | CSVWriteRecord | [x |-> 2, y |-> "c"] | ";" | FALSE | "r.csv" | TRUE
CSV | CSVRead | <<"u", "v">> | ";" | "r.csv" | <<[u |-> "x", v |-> "y"], [u |-> "1", v |-> "b"], [u |-> "2", v |-> "c"]>>
CSV | CSVWriteRecord | <<1>> | ";" | FALSE | "r.csv" | !expected a record
CSV | CSVWriteRecord | [x |-> 1] | ";" | 0 | "r.csv" | !must be a boolean
CSV | CSVWrite | "%s#%s" | <<3>> | "f.csv" | !wants 2 values, found 1
CSV | CSVWrite | "%x" | <<3>> | "f.csv" | !may hold

SVG | SVGElemToString | [name |-> "g", attrs |-> [stroke_width |-> 2], children |-> <<[name |-> "text", attrs |-> <<>>, children |-> <<>>, innerText |-> "a<b"]>>, innerText |-> ""] | "<g stroke-width='2'><text>a&lt;b</text></g>"
SVG | NodeOfRingNetwork | 10 | 10 | 5 | 0 | 4 | [x |-> 10, y |-> 5]
SVG | NodeOfRingNetwork | 10 | 10 | 5 | 1 | 4 | [x |-> 15, y |-> 10]
SVG | SVGSerialize | [name |-> "g", attrs |-> <<>>, children |-> <<>>, innerText |-> ""] | "frame" | 7 | TRUE

VectorClocks | IsCausalOrder | <<[c |-> <<1, 0>>], [c |-> <<1, 1>>]>> | @clock | TRUE
VectorClocks | IsCausalOrder | <<[c |-> <<1, 1>>], [c |-> <<1, 0>>]>> | @clock | FALSE
VectorClocks | CausalOrder | <<[c |-> <<1, 1>>], [c |-> <<1, 0>>], [c |-> <<0, 1>>]>> | @clock | @clock | @clock | <<[c |-> <<1, 0>>], [c |-> <<0, 1>>], [c |-> <<1, 1>>]>>

Statistics | ChiSquare | <<10, 10>> | <<10, 10>> | "0.05" | TRUE
Statistics | ChiSquare | <<50, 50>> | <<59, 41>> | "0.05" | TRUE
Statistics | ChiSquare | <<50, 50>> | <<60, 40>> | "0.05" | FALSE
Statistics | ChiSquare | <<50, 50>> | <<60, 40>> | "0.04" | TRUE
Statistics | ChiSquare | <<1, 1>> | <<60, 40>> | "0.05" | FALSE
Statistics | ChiSquare | <<10, 10, 10, 10, 10, 10>> | <<5, 8, 9, 8, 10, 20>> | "0.02" | FALSE
Statistics | ChiSquare | <<10, 10, 10, 10, 10, 10>> | <<5, 8, 9, 8, 10, 20>> | "0.019" | TRUE
Statistics | ChiSquare | <<10, 10>> | <<10, 10>> | "2" | !above 0 and at most 0.5
Statistics | ChiSquare | <<10, 10>> | <<10>> | "0.1" | !one domain
Statistics | ChiSquare | <<0, 10>> | <<1, 9>> | "0.1" | !must be positive
Statistics | ChiSquare | <<1, 10>> | <<-1, 9>> | "0.1" | !natural number

Apalache | MkSeq | 3 | @double | <<2, 4, 6>>
Apalache | Repeat | @minus | 3 | 10 | 4
Apalache | SetAsFun | {<<1, 5>>, <<2, 6>>, <<1, 7>>} | <<5, 6>>
Apalache | FunAsSeq | <<5, 6, 7>> | 2 | 9 | <<5, 6>>
Apalache | ApaFoldSet | @minus | 10 | {1, 2} | 7
Apalache | ApaFoldSeqLeft | @minus | 10 | <<1, 2>> | 7
Apalache | Gen | 1 | !symbolic checker
`
