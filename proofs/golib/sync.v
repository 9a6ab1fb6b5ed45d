(** * Mutexes and conditions

    A mutex is the zero cell of a variable or of a field, together with an
    assertion that it protects: [mutex_alloc].  Whoever has locked it holds
    [mutex_held b l R], which is what unlocking needs.  The assertion may be
    anything.  At the end of the boot all of it is void. *)
From ashlar.golib Require Export memory.

Definition mutexN : namespace := nroot .@ "mutex".

Section mutex.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (R : iProp Σ).

  (** A token, of which there is one; fractions of it can be counted. *)
  Local Definition token γ (q : Qp) : iProp Σ := ghost_var γ q ([] : list event).
  Local Lemma token_alloc : ⊢ |==> ∃ γ, token γ 1.
  Proof. apply ghost_var_alloc. Qed.
  Local Lemma token_exclusive γ q : token γ 1 -∗ token γ q -∗ False.
  Proof.
    iIntros "H1 H2". iDestruct (ghost_var_valid_2 with "H1 H2") as %[Hq _].
    by apply Qp.not_add_le_l in Hq.
  Qed.

  Definition mutex_body b l γ R : iProp Σ :=
    ∃ locked : bool, l ↦[b] #locked ∗
      (* who holds the mutex has the token and what it protects *)
      if locked then True else token γ 1 ∗ R.
  Definition is_mutex b l R : iProp Σ := ∃ γ, vinv mutexN b (mutex_body b l γ R).
  Definition mutex_held b l R : iProp Σ := ∃ γ, vinv mutexN b (mutex_body b l γ R) ∗ token γ 1.

  Global Instance is_mutex_persistent b l R : Persistent (is_mutex b l R).
  Proof. apply _. Qed.
  Lemma mutex_held_is_mutex b l R : mutex_held b l R -∗ is_mutex b l R.
  Proof. iIntros "(%γ & H & _)". by iExists γ. Qed.

  (** The variable becomes a mutex; what it protects must be there, or later. *)
  Lemma mutex_alloc b l E R : l ↦[b] #false -∗ ▷ R ={E}=∗ is_mutex b l R.
  Proof.
    iIntros "Hl HR". iMod token_alloc as (γ) "Hγ". iExists γ. iApply vinv_alloc.
    iNext. iExists false. iFrame.
  Qed.
  (** A mutex that is held from the beginning: what it protects can come later. *)
  Lemma mutex_alloc_held b l E R : l ↦[b] #true ={E}=∗ is_mutex b l R ∗ mutex_held b l R.
  Proof.
    iIntros "Hl". iMod token_alloc as (γ) "Hγ".
    iMod (vinv_alloc mutexN b E (mutex_body b l γ R) with "[Hl]") as "#Hinv".
    { iNext. iExists true. by iFrame. }
    iModIntro. iSplit; iExists γ; [done|]. by iFrame.
  Qed.

  Lemma wp_mutex_lock b l R :
    {{{ is_mutex b l R }}} mutex_lock #l @ b; ⊤ {{{ RET #(); mutex_held b l R ∗ R }}}.
  Proof.
    iIntros (Φ) "(%γ & #Hinv) HΦ". iLöb as "IH". wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hinv" as "(%locked & >Hl & HR)". iApply (wpe_cmpxchg with "Hl"); [done|].
    iIntros "!> Hl !>". destruct locked; simpl.
    - iSplitL "Hl". { iNext. iExists true. iFrame. }
      wp_pures. by iApply "IH".
    - iDestruct "HR" as "[Hγ HR]". iSplitL "Hl". { iNext. iExists true. by iFrame. }
      wp_pures. iApply "HΦ". iFrame. iExists γ. by iFrame.
  Qed.
  Lemma wp_mutex_unlock b l R :
    {{{ mutex_held b l R ∗ R }}} mutex_unlock #l @ b; ⊤ {{{ RET #(); True }}}.
  Proof.
    iIntros (Φ) "[(%γ & #Hinv & Hγ) HR] HΦ". wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hinv" as "(%locked & >Hl & Hfree)". iApply (wpe_cmpxchg with "Hl"); [done|].
    destruct locked; simpl; last first.
    { iIntros "!> Hl". iDestruct "Hfree" as "[Hγ2 _]".
      by iDestruct (token_exclusive with "Hγ Hγ2") as "[]". }
    iIntros "!> Hl !>". iSplitR "HΦ". { iNext. iExists false. iFrame. }
    wp_pures. by iApply "HΦ".
  Qed.

  (** ** Conditions: a variable that points to the mutex *)
  Definition is_cond b (c m : loc) : iProp Σ := c ↦[b]{DfracDiscarded} #m.
  Global Instance is_cond_persistent b c m : Persistent (is_cond b c m).
  Proof. apply _. Qed.
  Lemma wp_new_cond b (m : loc) :
    {{{ True }}} new_cond #m @ b; ⊤ {{{ c, RET #c; is_cond b c m }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. iApply wpe_fupd. wp_alloc c as "Hc".
    iMod (ghost_map_elem_persist with "Hc") as "#Hc". by iApply "HΦ".
  Qed.
  Lemma wp_cond_wait b c m R :
    {{{ is_cond b c m ∗ mutex_held b m R ∗ R }}}
      cond_wait #c @ b; ⊤
    {{{ RET #(); mutex_held b m R ∗ R }}}.
  Proof.
    iIntros (Φ) "(#Hc & Hheld & HR) HΦ". iDestruct (mutex_held_is_mutex with "Hheld") as "#Hm".
    wp_rec. wp_bind (Eff _ _). iApply (wpe_load with "Hc"). iIntros "!> _". wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld $HR]"). iIntros "_". wp_pures.
    by wp_apply (wp_mutex_lock with "Hm").
  Qed.
  Lemma wp_cond_signal b (v : val) :
    {{{ True }}} cond_signal v @ b; ⊤ {{{ RET #(); True }}}.
  Proof. iIntros (Φ) "_ HΦ". wp_pures. by iApply "HΦ". Qed.
  Lemma wp_cond_broadcast b (v : val) :
    {{{ True }}} cond_broadcast v @ b; ⊤ {{{ RET #(); True }}}.
  Proof. iIntros (Φ) "_ HΦ". wp_pures. by iApply "HΦ". Qed.
End mutex.
Global Typeclasses Opaque is_mutex mutex_held is_cond.
