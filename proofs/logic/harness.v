(** * The generic client, and the theorem about a library

    A node boots: it opens the library (which recovers) and starts any number of
    clients; each calls operations of its choice for ever, and what it calls and
    gets back is in the trace.  [library_correct] turns one proof about each piece
    of a library into a theorem about all executions of that system. *)
From ashlar.logic Require Export spec.

(** One call that can be seen: [run h c] between its two events. *)
Definition invoke (run : val) : val :=
  λ: "h" "c",
    let: "id" := Eff EmitOp (InjL "c") in
    let: "r" := run "h" "c" in
    Eff EmitOp (InjR ("id", "r"));;
    "r".
(** A client that calls what [gen] gives it. *)
Definition any_calls (gen run : val) : val := λ: "h", invoke run "h" (gen #()).
Definition serve (body : val) : val := rec: "serve" "h" := body "h";; "serve" "h".
Definition spawn (body : val) : val :=
  rec: "spawn" "h" :=
    if: Eff (ArbOp ArbBool) #() then Fork (serve body "h");; "spawn" "h" else #().
Definition boot_program (open body : val) : expr := let: "h" := open #() in spawn body "h".

Section lib.
  Context `{!golangGS Σ} (sp : spec) `{!specG Σ sp}.
  Implicit Types U : boot → spec_names → list gname → iProp Σ.

  (** The crash invariant: the framework's part and the library's. *)
  Definition lib_names (γ : spec_names) (γu : list gname) : list gname := sn_ops γ :: sn_state γ :: γu.
  Definition lib_inv U (b : boot) (γs : list gname) : iProp Σ :=
    ∃ γ γu, ⌜γs = lib_names γ γu⌝ ∗ spec_auth sp γ ∗ U b γ γu.
  Definition lib_ctx N U b γ γu : iProp Σ := crash_ctx N (lib_inv U) b (lib_names γ γu).
  Global Instance lib_ctx_persistent N U b γ γu : Persistent (lib_ctx N U b γ γu).
  Proof. apply _. Qed.

  (** Opening it for one atomic step. *)
  Lemma wp_lib_ctx N U b γ γu E e Φ :
    ↑N ⊆ E → eff_redex e = true →
    lib_ctx N U b γ γu -∗
    (▷ (spec_auth sp γ ∗ U b γ γu) -∗
       WP e @ b; E ∖ ↑N {{ v, |={E ∖ ↑N}=> ▷ (spec_auth sp γ ∗ U b γ γu) ∗ Φ v }}) -∗
    WP e @ b; E {{ Φ }}.
  Proof.
    iIntros (HN He) "#Hctx H". iApply (wpe_crash_inv with "Hctx"); [done|done|].
    rewrite {1}/lib_inv. iIntros "(%γ' & %γu' & >%Heq & HU)". destruct γ as [g1 g2], γ' as [g1' g2'].
    injection Heq as <- <- <-.
    iApply (wpe_wand with "(H HU)"). iIntros (v) ">[HU $] !> !>". iExists (SpecNames g1 g2), γu. by iFrame.
  Qed.
  Global Instance into_inv_lib_ctx N U b γ γu : IntoInv (lib_ctx N U b γ γu) N := {}.
  Global Instance elim_inv_lib_ctx N U b γ γu E e Φ :
    ElimInv (X:=unit) (↑N ⊆ E ∧ eff_redex e = true) (lib_ctx N U b γ γu) True
      (λ _, ▷ (spec_auth sp γ ∗ U b γ γu))%I None
      (WP e @ b; E {{ Φ }})
      (λ _, WP e @ b; E ∖ ↑N {{ v, |={E ∖ ↑N}=> ▷ (spec_auth sp γ ∗ U b γ γu) ∗ Φ v }})%I.
  Proof.
    rewrite /ElimInv. iIntros ([HN Heff]) "(Hinv & _ & H)".
    iApply (wp_lib_ctx with "Hinv"); [done|done|]. iIntros "HC". iApply ("H" $! tt). by iFrame.
  Qed.

  Lemma wp_invoke N U b γ γu (run h c : val) Φ :
    lib_ctx N U b γ γu -∗
    (∀ k : nat, pending γ k c -∗ WP run h c @ b; ⊤ {{ r, returns γ k r ∗ Φ r }}) -∗
    WP invoke run h c @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "#Hctx Hrun". wp_rec. wp_pures.
    wp_bind (Eff EmitOp _).
    iApply (wp_lib_ctx with "Hctx"); [done|done|]. iIntros "[Ha HU]".
    iApply wpe_fupd. iApply (wp_emit_call with "Ha"). iIntros "!>" (k) "Ha Hk".
    iModIntro. iFrame "Ha HU". wp_pures.
    wp_bind (run _ _). iApply (wpe_wand with "(Hrun Hk)"). iIntros (r) "[Hk HΦ]". wp_pures.
    wp_bind (Eff EmitOp _).
    iApply (wp_lib_ctx with "Hctx"); [done|done|]. iIntros "[Ha HU]".
    iApply wpe_fupd. iApply (wp_emit_ret with "Ha Hk"). iIntros "!>" (v) "Ha".
    iModIntro. iFrame "Ha HU". wp_pures. done.
  Qed.
  (** A client that calls anything of a set of calls. *)
  Lemma wp_any_calls N U b γ γu (legal : val → Prop) (gen run h : val) :
    lib_ctx N U b γ γu -∗
    (WP gen #() @ b; ⊤ {{ c, ⌜legal c⌝ }}) -∗
    (∀ c k, ⌜legal c⌝ -∗ pending γ k c -∗ WP run h c @ b; ⊤ {{ r, returns γ k r }}) -∗
    WP any_calls gen run h @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx Hgen Hrun". wp_rec. wp_pures.
    wp_bind (gen _). iApply (wpe_wand with "Hgen"). iIntros (c Hc).
    iApply (wp_invoke with "Hctx"). iIntros (k) "Hk".
    iApply (wpe_wand with "(Hrun [//] Hk)"). iIntros (r) "$".
  Qed.

  (** What is to be proved about a library whose devices are [dv] when it first boots. *)
  Record lib_proof N (open body : val) (dv : devices) := LibProof {
    (** What survives: the library's part of the crash invariant. *)
    lp_inv : boot → spec_names → list gname → iProp Σ;
    (** What recovery owns when a boot begins, beside the invariant. *)
    lp_rec : boot → spec_names → list gname → iProp Σ;
    (** What clients know of the open library. *)
    lp_lib : boot → spec_names → list gname → val → iProp Σ;
    lp_lib_persistent : ∀ b γ γu h, Persistent (lp_lib b γ γu h);
    lp_open : ∀ b γ γu, b_node b = 0 → ⊢
      lib_ctx N lp_inv b γ γu -∗ lp_rec b γ γu -∗
      WP open #() @ b; ⊤ {{ h, lp_lib b γ γu h }};
    lp_body : ∀ b γ γu h, b_node b = 0 → ⊢
      lib_ctx N lp_inv b γ γu -∗ lp_lib b γ γu h -∗ WP body h @ b; ⊤ {{ _, True }};
    lp_crash : ∀ b γ γu γs vn vn' dv dv', b_node b = 0 → dev_crash dv dv' → ⊢
      boot_is b γs vn -∗ volatile_interp vn dv -∗ volatile_elements vn' dv' -∗
      ▷ lp_inv b γ γu ={⊤ ∖ ↑N}=∗
      ∃ S ps S',
        spec_possible sp γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
        ⌜crash_leads sp S ps.*2 S'⌝ ∗
        ∀ γ', spec_possible sp γ' S' ={⊤ ∖ ↑N}=∗ ∃ γu',
          ∀ γs', boot_is (next_boot b) γs' vn' ={⊤ ∖ ↑N}=∗
            lp_inv (next_boot b) γ' γu' ∗ lp_rec (next_boot b) γ' γu';
    lp_init : ∀ vn, sizes_are 0 dv → ⊢
      durable_elements 0 dv -∗ volatile_elements vn dv ={⊤}=∗
      ∃ S, ⌜(∃ s, S s) ∧ ∀ s, S s → sp_init sp s⌝ ∗
        ∀ γ, spec_possible sp γ S ={⊤}=∗ ∃ γu,
          ∀ γs, boot_is (Boot 0 0) γs vn ={⊤}=∗
            lp_inv (Boot 0 0) γ γu ∗ lp_rec (Boot 0 0) γ γu;
  }.
  Global Existing Instance lp_lib_persistent.

  Lemma wp_serve N open body dv (P : lib_proof N open body dv) b γ γu h : b_node b = 0 →
    lib_ctx N (lp_inv _ _ _ _ P) b γ γu -∗ lp_lib _ _ _ _ P b γ γu h -∗
    WP serve body h @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros (Hb) "#Hctx #Hh". iLöb as "IH". wp_rec.
    wp_bind (body _). iApply (wpe_wand with "[]"); [by iApply lp_body|]. iIntros (v _).
    wp_pure. wp_pure. iApply "IH".
  Qed.
  Lemma wp_boot_program N open body dv (P : lib_proof N open body dv) b γ γu : b_node b = 0 →
    lib_ctx N (lp_inv _ _ _ _ P) b γ γu -∗ lp_rec _ _ _ _ P b γ γu -∗
    WP boot_program open body @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros (Hb) "#Hctx Hrec". rewrite /boot_program. wp_pures. wp_bind (open _).
    iApply (wpe_wand with "[Hrec]"); [by iApply (lp_open with "Hctx Hrec")|]. iIntros (h) "#Hh".
    wp_pure. wp_pure. iLöb as "IH". wp_rec. wp_bind (Eff (ArbOp _) _).
    iApply wpe_arb. iIntros "!>" (v (a & ->)). destruct a; wp_pures; [|done].
    wp_bind (Fork _). iApply wpe_fork; [by iApply (wp_serve with "Hctx Hh")|]. iNext.
    wp_pure. wp_pure. iApply "IH".
  Qed.
End lib.
Global Typeclasses Opaque lib_ctx.

(** The theorem: over the plain semantics, for every interleaving and any number of
    crashes, also during recovery, the trace is explained by the specification and
    no thread is ever stuck. *)
Theorem library_correct Σ `{!golangGpreS Σ} (sp : spec) `{!specG Σ sp} N (open body : val) (dv : devices) :
  fs_fds (dv_fs dv) = ∅ → no_demon (boot_program open body) →
  (∀ `{!golangGS Σ}, lib_proof sp N open body dv) →
  ∀ tp σ,
    rtc (plain_step [boot_program open body]) (init_pool [boot_program open body], init_state [dv]) (tp, σ) →
    explained sp (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hfds Hnd P.
  apply (plain_transfer _ _ (explained sp)); [by repeat constructor|].
  apply (recovery_adequacy Σ N _ dv (explained sp)); [done|].
  iIntros (G vn Hsz) "Hdur Hvol Ht".
  set (Q := P G).
  iMod (lp_init _ _ _ _ _ Q with "Hdur Hvol") as (S) "([%Hne %Hinit] & Hinit)"; [done|].
  iMod (spec_alloc sp S with "Ht") as (γ) "[Ha HS]"; [done|done|].
  iMod ("Hinit" with "HS") as (γu) "Hinit".
  iModIntro. iExists (lib_inv sp (lp_inv _ _ _ _ _ Q)), (lib_names γ γu). iSplitL "Ha Hinit".
  { iIntros "Hb". iMod ("Hinit" with "Hb") as "[HU HR]". iModIntro. iSplitL "Ha HU".
    - iExists γ, γu. by iFrame.
    - iIntros "#Hctx". by iApply (wp_boot_program with "Hctx HR"). }
  iSplitR.
  - iIntros "!>" (b γs vn1 vn2 dv1 dv2 Hb Hcrash) "Hboot Hold Hnew (%γ1 & %γu1 & >-> & >Ha & HU)".
    iMod (lp_crash _ _ _ _ _ Q with "Hboot Hold Hnew HU") as (S1 ps S2) "(HS & Hps & %Hlead & Hback)"; [done|done|].
    iDestruct (spec_crash with "Ha HS Hps") as (t) "[Ht Hgo]".
    iModIntro. iExists t. iFrame "Ht". iIntros "Ht".
    iMod ("Hgo" with "[//] Ht") as (γ2) "[Ha HS]".
    iMod ("Hback" with "HS") as (γu2) "Hback".
    iModIntro. iExists (lib_names γ2 γu2). iIntros "Hb".
    iMod ("Hback" with "Hb") as "[HU HR]". iModIntro. iSplitL "Ha HU".
    + iExists γ2, γu2. by iFrame.
    + iIntros "#Hctx". iApply (wp_boot_program with "Hctx HR"). done.
  - iIntros "!>" (b γs) "(%γ1 & %γu1 & _ & >Ha & _)". iModIntro. by iApply spec_auth_explained.
Qed.
