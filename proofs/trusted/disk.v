(** * Models of disks

    What is assumed of the world.  Each model is a state and a relation from a
    call and a state to a result and a state; calls are atomic.  The Go packages
    under [goose/primitive] claim to behave like this and are tested for it.

    An address or a length that is out of range has no step: the caller must not
    do it (the Go code panics). *)
From ashlar.lang Require Export syntax.

Definition block_size : Z := 4096.
Definition block_ok (b : bytes) : Prop := length b = Z.to_nat block_size.
Definition zero_block : bytes := replicate (Z.to_nat block_size) 0%Z.

(** A disk maps the addresses 0, ..., size-1 to blocks. *)
Notation disk := (gmap Z (list Z)).
Definition disk_ok (d : disk) : Prop :=
  (∀ a, is_Some (d !! a) ↔ (0 ≤ a < size d)%Z) ∧ map_Forall (λ _, block_ok) d ∧ (size d < 2^64)%Z.

(** ** A synchronous disk that does not fail: a write is durable when it returns. *)
Inductive disk_step : dev_op → val → disk → val → disk → Prop :=
  | DiskReadS a b d : d !! a = Some b →
     disk_step DiskRead (LitV (LitInt U64 a)) d (LitV (LitStr b)) d
  | DiskWriteS a b b0 d : d !! a = Some b0 → block_ok b →
     disk_step DiskWrite (PairV (LitV (LitInt U64 a)) (LitV (LitStr b))) d (LitV LitUnit) (<[a:=b]> d)
  | DiskSizeS d :
     disk_step DiskSize (LitV LitUnit) d (LitV (LitInt U64 (size d))) d.

(** ** Two synchronous disks, of which at most one fails

    Disk 0 or disk 1 may fail for good at any access.  Reads of a failed disk say
    so, writes to it do nothing and do not say so. *)
Record two_disk := TwoDisk { td_0 : disk; td_1 : disk; td_failed : option bool (* Some false: disk 0 *) }.
Definition td_get (i : bool) (t : two_disk) : disk := if i then td_1 t else td_0 t.
Definition td_set (i : bool) (d : disk) (t : two_disk) : two_disk :=
  if i then TwoDisk (td_0 t) d (td_failed t) else TwoDisk d (td_1 t) (td_failed t).
(** The disk that an access names, and the states in which the access may find things. *)
Definition td_id (w : val) : option bool :=
  match w with
  | LitV (LitInt U64 0) => Some false
  | LitV (LitInt U64 1) => Some true
  | _ => None
  end%Z.
Inductive td_fail (i : bool) : two_disk → two_disk → Prop :=
  | TdStay t : td_fail i t t
  | TdFail d0 d1 : td_fail i (TwoDisk d0 d1 None) (TwoDisk d0 d1 (Some i)).

Inductive two_step : dev_op → val → two_disk → val → two_disk → Prop :=
  | TwoReadS w i a b t t' : td_id w = Some i → td_fail i t t' → td_failed t' ≠ Some i →
     td_get i t' !! a = Some b →
     two_step TwoRead (PairV w (LitV (LitInt U64 a))) t
       (PairV (LitV (LitStr b)) (LitV (LitBool true))) t'
  | TwoReadFailedS w i a b t t' : td_id w = Some i → td_fail i t t' → td_failed t' = Some i →
     td_get i t' !! a = Some b →
     two_step TwoRead (PairV w (LitV (LitInt U64 a))) t
       (PairV (LitV (LitStr zero_block)) (LitV (LitBool false))) t'
  | TwoWriteS w i a b b0 t t' : td_id w = Some i → td_fail i t t' → td_failed t' ≠ Some i →
     td_get i t' !! a = Some b0 → block_ok b →
     two_step TwoWrite (PairV w (PairV (LitV (LitInt U64 a)) (LitV (LitStr b)))) t
       (LitV LitUnit) (td_set i (<[a:=b]> (td_get i t')) t')
  | TwoWriteFailedS w i a b b0 t t' : td_id w = Some i → td_fail i t t' → td_failed t' = Some i →
     td_get i t' !! a = Some b0 → block_ok b →
     two_step TwoWrite (PairV w (PairV (LitV (LitInt U64 a)) (LitV (LitStr b)))) t
       (LitV LitUnit) t'
  | TwoSizeS t :
     two_step TwoSize (LitV LitUnit) t (LitV (LitInt U64 (size (td_0 t)))) t.
Definition two_ok (t : two_disk) : Prop :=
  disk_ok (td_0 t) ∧ disk_ok (td_1 t) ∧ size (td_0 t) = size (td_1 t).

(** ** An asynchronous disk

    Each address holds its latest content and all contents that a crash may leave
    there: what was durable, and every write since the last barrier.  Writes to
    different addresses are lost independently of each other. *)
Record cached (A : Type) := Cached { ca_latest : A; ca_older : list A (* what else a crash may leave *) }.
Arguments Cached {A}. Arguments ca_latest {A}. Arguments ca_older {A}.
Definition ca_possible {A} (c : cached A) : list A := ca_latest c :: ca_older c.
Definition ca_write {A} (x : A) (c : cached A) : cached A := Cached x (ca_possible c).
Definition ca_flush {A} (c : cached A) : cached A := Cached (ca_latest c) [].
Definition ca_new {A} (x : A) : cached A := Cached x [].

Notation async_disk := (gmap Z (cached (list Z))).
Inductive async_step : dev_op → val → async_disk → val → async_disk → Prop :=
  | AsyncReadS a c d : d !! a = Some c →
     async_step AsyncRead (LitV (LitInt U64 a)) d (LitV (LitStr (ca_latest c))) d
  | AsyncWriteS a b c d : d !! a = Some c → block_ok b →
     async_step AsyncWrite (PairV (LitV (LitInt U64 a)) (LitV (LitStr b))) d
       (LitV LitUnit) (<[a:=ca_write b c]> d)
  | AsyncSizeS d :
     async_step AsyncSize (LitV LitUnit) d (LitV (LitInt U64 (size d))) d
  | AsyncBarrierS d :
     async_step AsyncBarrier (LitV LitUnit) d (LitV LitUnit) (ca_flush <$> d).
(** A crash leaves at each address one of its possible contents. *)
Definition async_crash (d d' : async_disk) : Prop :=
  dom d' = dom d ∧
  ∀ a c, d !! a = Some c → ∃ b, b ∈ ca_possible c ∧ d' !! a = Some (ca_new b).
Definition async_ok (d : async_disk) : Prop :=
  (∀ a, is_Some (d !! a) ↔ (0 ≤ a < size d)%Z) ∧
  map_Forall (λ _ c, Forall block_ok (ca_possible c)) d ∧ (size d < 2^64)%Z.
