-------------------------------- MODULE Json ---------------------------------
(* Sequences and sets are arrays, other functions objects.                    *)

ToJson(val) == TRUE
\* native

ToJsonArray(val) == TRUE
\* native

ToJsonObject(val) == TRUE
\* native

JsonSerialize(file, val) == TRUE
\* native

JsonDeserialize(file) == TRUE
\* native

(* One value on each line. *)
ndJsonSerialize(file, val) == TRUE
\* native

ndJsonDeserialize(file) == TRUE
\* native
=============================================================================
