------------------------------- MODULE Option --------------------------------
(* A value or none, as variants.                                               *)
EXTENDS Variants

Some(val) == Variant("Some", val)

None == Variant("None", UNIT)

IsSome(o) == VariantTag(o) = "Some"

IsNone(o) == VariantTag(o) = "None"

OptionCase(o, caseSome(_), caseNone(_)) ==
  IF IsSome(o) THEN caseSome(VariantGetUnsafe("Some", o)) ELSE caseNone(UNIT)

OptionToSeq(o) == IF IsSome(o) THEN <<VariantGetUnsafe("Some", o)>> ELSE <<>>

OptionToSet(o) == IF IsSome(o) THEN {VariantGetUnsafe("Some", o)} ELSE {}

OptionGetOrElse(o, default) == VariantGetOrElse("Some", o, default)

OptionFlatMap(f(_), o) == IF IsSome(o) THEN f(VariantGetUnsafe("Some", o)) ELSE None

(* Any element of the set, none where there is none. *)
OptionGuess(S) == IF S = {} THEN None ELSE Some(CHOOSE x \in S : TRUE)

(* What f gives for an argument that there may be. *)
OptionFunApp(f, o) == IF IsSome(o) THEN Some(f[VariantGetUnsafe("Some", o)]) ELSE None

(* f as a function that gives none for the arguments in undef. *)
OptionPartialFun(f, undef) == [x \in DOMAIN f |-> IF x \in undef THEN None ELSE Some(f[x])]
=============================================================================
