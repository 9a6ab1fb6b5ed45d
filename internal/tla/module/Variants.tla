------------------------------ MODULE Variants -------------------------------
(* Values that carry a tag, which says what they hold.                         *)

(* What a variant holds that holds nothing. *)
UNIT == "U_OF_UNIT"

Variant(tag, val) == [tag |-> tag, value |-> val]

VariantTag(variant) == variant.tag

(* What those variants of a set hold that have the tag. *)
VariantFilter(tag, S) == {v.value : v \in {w \in S : w.tag = tag}}

VariantGetOrElse(tag, variant, default) == IF variant.tag = tag THEN variant.value ELSE default

(* What the variant holds, which must have the tag. *)
VariantGetUnsafe(tag, variant) == variant.value
=============================================================================
