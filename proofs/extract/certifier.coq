(* What the target certifier of proofs/Makefile extracts: the checkers that
   certifier.ml calls. Names of relations and variables become OCaml's strings, and nat, which
   counts pieces and columns, its integers; all other numbers stay as they are in Coq. *)
From Coq Require Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlChar ExtrOcamlNativeString.
From ashlar.dedalus Require Import certify separate handover moved.
Extract Inlined Constant strings.string_eq_dec => "((=) : string -> string -> bool)".
Extraction "model.ml" may_divide_program divided_b may_decouple_program handed_b separated_b relayed_b.
