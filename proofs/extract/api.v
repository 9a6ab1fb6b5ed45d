(** * What the driver (driver.ml) calls, and how Coq's types become OCaml's

    A file that is to be run defines [driver_programs], a list of names and functions of
    no argument, and extracts them with the functions below:

      Extraction "model.ml" driver_programs driver_init driver_next driver_run driver_crash.

    Integers stay binary numbers as in Coq; only [nat], which counts, and strings,
    which are names of variables, become OCaml's own. *)
From Coq Require Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlChar ExtrOcamlNativeString.
From ashlar.lang Require Export interp_sound.
From ashlar.trusted Require Export primitive.
Open Scope Z_scope.

Extract Inlined Constant strings.string_eq_dec => "((=) : string -> string -> bool)".

Notation program := (string * expr)%type (only parsing).
(** A function of no argument, called. *)
Definition program_of (name : string) (f : val) : string * expr := (name, App (Val f) (Val #())).

(** The devices that programs find: disks of four blocks, two directories. *)
Definition small_disk : disk := list_to_map ((λ a, (a, zero_block)) <$> [0; 1; 2; 3]).
Definition small_devices : devices :=
  Devices small_disk (TwoDisk small_disk small_disk None) (ca_new <$> small_disk)
    (Filesys (list_to_map ((λ d, (bytes_of d, ∅)) <$> ["a"; "b"]%string)) ∅ ∅).

Definition driver_init (e : expr) : config := init_config [e] [small_devices].
(** [step_task] in two halves, so that the driver sees which effect is next. *)
Definition driver_next (fuel : nat) (t : task) : machine := advance fuel (tk_ctx t) (tk_focus t).
Definition driver_run : machine → choices → nat → task → config → outcome := run_next.
Definition driver_crash (e : expr) (ch : choices) (c : config) : option config := step_crash [e] ch 0 c.
