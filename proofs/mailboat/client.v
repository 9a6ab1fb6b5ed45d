(** * The mail store as a transition system over values, and its clients

    Calls are ("deliver", (user, message)), ("pickup", user),
    ("delete", (user, ID)) and ("unlock", user).  A delivery or deletion that has
    taken its first step is [settling]: it has its second one before it.

    Clients deliver any message to any user, or have a session: pick up a user's
    mail, delete some of it, and unlock, each of which is a call of its own.  A
    session is how a program must use the package: nobody deletes what a pickup has
    not given, or without the lock. *)
From ashlar.logic Require Export harness.
From ashlar.gen.mail Require Export mailboat.
From ashlar.mailboat Require Export spec.
Local Open Scope Z_scope.

(** ** Calls and results *)
Definition deliver_call (u : Z) (d : list Z) : val := (#(str "deliver"), (#(u64 u), #(LitStr d))).
Definition pickup_call (u : Z) : val := (#(str "pickup"), #(u64 u)).
Definition delete_call (u : Z) (id : list Z) : val := (#(str "delete"), (#(u64 u), #(LitStr id))).
Definition unlock_call (u : Z) : val := (#(str "unlock"), #(u64 u)).
Definition settling (u : Z) (id : list Z) : val := InjRV (#(u64 u), #(LitStr id)).
(** What a pickup returns: a list of (ID, message). *)
Definition message_val (x : list Z * list Z) : val := (#(LitStr x.1), #(LitStr x.2)).
Definition messages_val (l : list (list Z * list Z)) : val := list_val (message_val <$> l).

Inductive mail_step : val → mail → val → mail → Prop :=
  | settle_call u id s s2 : settle_step u id s s2 → mail_step (settling u id) s #() s2
  | pickup_takes u l s s2 : pickup_step u l s s2 → mail_step (pickup_call u) s (messages_val l) s2
  | unlock_takes u s s2 : unlock_step u s s2 → mail_step (unlock_call u) s #() s2.
Inductive mail_move : val → mail → val → mail → Prop :=
  | deliver_takes u d id s s2 : deliver_step u d id s s2 →
     mail_move (deliver_call u d) s (settling u id) s2
  | delete_takes u id s s2 : delete_step u id s s2 →
     mail_move (delete_call u id) s (settling u id) s2.
(** The mail store of the users 0, ..., n-1. *)
Definition mail_spec (n : nat) : spec := Spec mail (eq (mail_init n)) mail_step mail_move mail_crash.

(** ** Each call of the package, between values *)
Definition run_deliver : val :=
  λ: "m" "c", Mailboat__Deliver "m" (Fst (Snd "c")) (string_to_slice (Snd (Snd "c"))).
(** The slice of messages becomes a list, from its end to its beginning. *)
Definition run_pickup : val :=
  λ: "m" "c",
    let: "s" := Mailboat__Pickup "m" (Snd "c") in
    (rec: "loop" "i" "l" :=
       if: "i" = #(int 0) then "l"
       else
         let: "x" := slice_get (structT Message) "s" ("i" - #(int 1)) in
         "loop" ("i" - #(int 1))
           (InjR ((field_get Message "ID" "x", slice_to_string (field_get Message "Contents" "x")), "l")))
      (slice_len "s") (InjLV #()).
Definition run_delete : val :=
  λ: "m" "c", Mailboat__Delete "m" (Fst (Snd "c")) (Snd (Snd "c")).
Definition run_unlock : val := λ: "m" "c", Mailboat__Unlock "m" (Snd "c").

(** ** Clients *)
Definition delete_some : val :=
  rec: "loop" "m" "u" "l" :=
    match: "l" with
      InjL <> => #()
    | InjR "x" =>
      (if: Eff (ArbOp ArbBool) #() then
         invoke run_delete "m" (#(str "delete"), ("u", Fst (Fst "x")))
       else #());;
      "loop" "m" "u" (Snd "x")
    end.
Definition session : val :=
  λ: "m" "u",
    let: "l" := invoke run_pickup "m" (#(str "pickup"), "u") in
    delete_some "m" "u" "l";;
    invoke run_unlock "m" (#(str "unlock"), "u").
(** The longest message that a client delivers: what fits into memory. *)
Definition message_max : Z := 2^40.
Definition mail_client (n : Z) : val :=
  λ: "m",
    let: "u" := Eff (ArbOp (ArbInt U64)) #() in
    if: "u" < #(u64 n) then
      if: Eff (ArbOp ArbBool) #() then
        let: "d" := Eff (ArbOp ArbBytes) #() in
        if: string_len "d" ≤ #(int message_max) then
          invoke run_deliver "m" (#(str "deliver"), ("u", "d"))
        else #()
      else session "m" "u"
    else #().
Definition open_mail (n : Z) : val := λ: <>, Open #null #(u64 n).
