(** * The two disks: their invariant, and its accesses

    Who holds the lock of an address holds its element of a ghost map: it says in
    which phase the address is, and what is on the disks, and that nobody else
    changes that.  The invariant has the map and, for each address, what the map
    says, on the disks that have not failed. *)
From iris.base_logic.lib Require Import ghost_map.
From ashlar.logic Require Import two.
From ashlar.replicateddisk Require Import spec inv.

Class replicatedG Σ := ReplicatedG { replicatedG_map : ghost_mapG Σ Z address }.
Global Existing Instance replicatedG_map.
Definition replicatedΣ : gFunctors := #[ghost_mapΣ Z address].
Global Instance subG_replicatedΣ Σ : subG replicatedΣ Σ → replicatedG Σ.
Proof. solve_inG. Qed.

Section disk.
  Context `{!golangGS Σ, !replicatedG Σ}.
  (** That a call with this id is pending. *)
  Context (pending : nat → val → iProp Σ).
  Context `{!∀ id c, Timeless (pending id c)}.
  Implicit Types (b : boot) (γ : gname) (m : gmap Z address) (ad : address) (Φ : val → iProp Σ).

  Definition address_ok ad : Prop :=
    block_ok (ad_0 ad) ∧ block_ok (ad_1 ad) ∧ (ad_phase ad = Quiet → ad_0 ad = ad_1 ad).

  Definition own_address (n : nat) (a : Z) ad : iProp Σ :=
    ⌜address_ok ad⌝ ∗
    (* what the disks have that have not failed *)
    two_has n false a (ad_0 ad) ∗
    two_has n true a (ad_1 ad) ∗
    (* whoever crashes between two writes leaves what recovery needs to help *)
    match ad_phase ad with Halfway id => pending id (write_call a (ad_0 ad)) | _ => True end.
  Global Instance own_address_timeless n a ad : Timeless (own_address n a ad).
  Proof. rewrite /own_address. destruct (ad_phase ad); apply _. Qed.

  Definition two_disks (n : nat) γ m : iProp Σ :=
    ghost_map_auth γ 1 m ∗ [∗ map] a ↦ ad ∈ m, own_address n a ad.
  Global Instance two_disks_timeless n γ m : Timeless (two_disks n γ m).
  Proof. apply _. Qed.

  Lemma two_disks_ok n γ m : two_disks n γ m -∗ ⌜map_Forall (λ _, address_ok) m⌝.
  Proof.
    iIntros "[_ Hm]" (a ad Ha). by iDestruct (big_sepM_lookup with "Hm") as "[$ _]".
  Qed.

  (** Taking one address out, and putting it back changed. *)
  Lemma two_disks_open n γ m a ad :
    two_disks n γ m -∗ a ↪[γ] ad -∗ ⌜m !! a = Some ad⌝ ∗ own_address n a ad ∗
      (∀ ad', own_address n a ad' ==∗ two_disks n γ (<[a:=ad']> m) ∗ a ↪[γ] ad').
  Proof.
    iIntros "[Hauth Hm] Ha". iDestruct (ghost_map_lookup with "Hauth Ha") as %Hlk.
    iSplit; [done|]. iDestruct (big_sepM_insert_acc with "Hm") as "[$ Hm]"; [done|].
    iIntros (ad') "Had". iMod (ghost_map_update ad' with "Hauth Ha") as "[$ $]".
    by iApply "Hm".
  Qed.
  Lemma two_disks_open_later n γ m a ad :
    ▷ two_disks n γ m -∗ a ↪[γ] ad -∗ ◇ (⌜m !! a = Some ad⌝ ∗ own_address n a ad ∗
      (∀ ad', own_address n a ad' ==∗ two_disks n γ (<[a:=ad']> m) ∗ a ↪[γ] ad')).
  Proof. iIntros ">Hm Ha". iModIntro. iApply (two_disks_open with "Hm Ha"). Qed.

  (** ** One access each *)

  (** The first write: its call is left where recovery finds it. *)
  Lemma wp_write_0 b E γ m a old new id Φ : block_ok new →
    ▷ two_disks (b_node b) γ m -∗ a ↪[γ] quiet old -∗ pending id (write_call a new) -∗
    ▷ (⌜m !! a = Some (quiet old)⌝ -∗
       two_disks (b_node b) γ (<[a:=Address (Halfway id) new old]> m) -∗
       a ↪[γ] Address (Halfway id) new old -∗ Φ #()) -∗
    WP Eff (DevOp TwoWrite) (Val (which false, (#(u64 a), #(LitStr new)))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hnew) "Hm Ha Hid HΦ".
    iMod (two_disks_open_later with "Hm Ha") as "(%Hlk & (%Hok & H0 & H1 & _) & Hclose)".
    iApply wpe_fupd. iApply (wpe_two_has_write with "H0"); [done|]. iIntros "!> H0".
    iMod ("Hclose" $! (Address (Halfway id) new old) with "[H0 H1 Hid]") as "[Hm Ha]".
    { iFrame. iPureIntro. destruct Hok as (? & ? & ?). by split_and!. }
    iModIntro. by iApply ("HΦ" with "[//] Hm Ha").
  Qed.
  (** The second write: now it has happened. *)
  Lemma wp_write_1 b E γ m a old new id Φ :
    ▷ two_disks (b_node b) γ m -∗ a ↪[γ] Address (Halfway id) new old -∗
    ▷ (⌜m !! a = Some (Address (Halfway id) new old)⌝ -∗
       two_disks (b_node b) γ (<[a:=quiet new]> m) -∗ a ↪[γ] quiet new -∗
       pending id (write_call a new) ={E}=∗ Φ #()) -∗
    WP Eff (DevOp TwoWrite) (Val (which true, (#(u64 a), #(LitStr new)))) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hm Ha HΦ".
    iMod (two_disks_open_later with "Hm Ha") as "(%Hlk & (%Hok & H0 & H1 & Hid) & Hclose)".
    destruct Hok as (Hnew & _ & _). simpl in *.
    iApply wpe_fupd. iApply (wpe_two_has_write with "H1"); [done|]. iIntros "!> H1".
    iMod ("Hclose" $! (quiet new) with "[H0 H1]") as "[Hm Ha]".
    { iFrame. simpl. done. }
    by iApply ("HΦ" with "[//] Hm Ha Hid").
  Qed.

  (** Reads. *)
  Lemma wp_read_0 b E γ m a ad Φ :
    ▷ two_disks (b_node b) γ m -∗ a ↪[γ] ad -∗
    ▷ (∀ r (ok : bool), ⌜m !! a = Some ad ∧ block_ok r⌝ -∗ two_disks (b_node b) γ m -∗ a ↪[γ] ad -∗
         (if ok then ⌜r = ad_0 ad⌝ else disk_failed (b_node b) false) ={E}=∗ Φ (#(LitStr r), #ok)%V) -∗
    WP Eff (DevOp TwoRead) (Val (which false, #(u64 a))) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hm Ha HΦ".
    iMod (two_disks_open_later with "Hm Ha") as "(%Hlk & (%Hok & H0 & H1 & Hid) & Hclose)".
    iApply wpe_fupd. iApply (wpe_two_has_read with "H0"). iIntros "!>" (r ok) "H0 Hr".
    iMod ("Hclose" $! ad with "[H0 H1 Hid]") as "[Hm Ha]"; [by iFrame|]. rewrite insert_id //.
    destruct Hok as (Hok0 & _ & _). destruct ok.
    - iDestruct "Hr" as %->. by iApply ("HΦ" $! _ true with "[//] Hm Ha").
    - iDestruct "Hr" as "[-> Hf]". iApply ("HΦ" $! _ false with "[] Hm Ha Hf"). iPureIntro.
      split; [done|]. apply replicate_length.
  Qed.
  Lemma wp_read_1 b E γ m a ad Φ :
    disk_failed (b_node b) false -∗ ▷ two_disks (b_node b) γ m -∗ a ↪[γ] ad -∗
    ▷ (∀ ok : bool, ⌜m !! a = Some ad ∧ block_ok (ad_1 ad)⌝ -∗ two_disks (b_node b) γ m -∗ a ↪[γ] ad ={E}=∗
         Φ (#(LitStr (ad_1 ad)), #ok)%V) -∗
    WP Eff (DevOp TwoRead) (Val (which true, #(u64 a))) @ b; E {{ Φ }}.
  Proof.
    iIntros "#Hf Hm Ha HΦ".
    iMod (two_disks_open_later with "Hm Ha") as "(%Hlk & (%Hok & H0 & H1 & Hid) & Hclose)".
    iApply wpe_fupd. iApply (wpe_two_has_read with "H1"). iIntros "!>" (r ok) "H1 Hr".
    iMod ("Hclose" $! ad with "[H0 H1 Hid]") as "[Hm Ha]"; [by iFrame|]. rewrite insert_id //.
    destruct ok; [|iDestruct "Hr" as "[_ Hr]"; by iDestruct (disk_failed_other with "Hf Hr") as "[]"].
    iDestruct "Hr" as %->. destruct Hok as (_ & Hok1 & _). by iApply ("HΦ" $! true with "[//] Hm Ha").
  Qed.

  (** Recovery of an address that nobody is at: from either disk. *)
  Lemma two_disks_settle_1 n γ m a ad :
    disk_failed n false -∗ two_disks n γ m -∗ a ↪[γ] ad ==∗
    two_disks n γ (<[a:=quiet (ad_1 ad)]> m) ∗ a ↪[γ] quiet (ad_1 ad).
  Proof.
    iIntros "#Hf Hm Ha". iDestruct (two_disks_open with "Hm Ha") as "(%Hlk & (%Hok & H0 & H1 & _) & Hclose)".
    iApply "Hclose". iDestruct (two_has_failed with "Hf H0") as "$". iFrame "H1".
    iPureIntro. destruct Hok as (? & ? & ?). by split_and!.
  Qed.
  Lemma wp_recover_1 b E γ m a ad Φ :
    ▷ two_disks (b_node b) γ m -∗ a ↪[γ] ad -∗
    ▷ (⌜m !! a = Some ad⌝ -∗ two_disks (b_node b) γ (<[a:=quiet (ad_0 ad)]> m) -∗
       a ↪[γ] quiet (ad_0 ad) ={E}=∗ Φ #()) -∗
    WP Eff (DevOp TwoWrite) (Val (which true, (#(u64 a), #(LitStr (ad_0 ad))))) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hm Ha HΦ".
    iMod (two_disks_open_later with "Hm Ha") as "(%Hlk & (%Hok & H0 & H1 & _) & Hclose)".
    destruct Hok as (Hnew & _ & _).
    iApply wpe_fupd. iApply (wpe_two_has_write with "H1"); [done|]. iIntros "!> H1".
    iMod ("Hclose" $! (quiet (ad_0 ad)) with "[H0 H1]") as "[Hm Ha]".
    { iFrame. simpl. done. }
    by iApply ("HΦ" with "[//] Hm Ha").
  Qed.
End disk.
