(** * The methods of disk.Disk and disk.Two: each is one effect on bytes

    The rules leave the effect to be proved, so that an invariant can be opened
    around it: [iInv] applies to the premise.  Then the rules for a points-to that
    the caller owns. *)
From ashlar.logic Require Export two.
From ashlar.golib Require Export slice_rules.
Local Open Scope Z_scope.

Section disk.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a : Z) (s : slice) (bs : list Z) (h : val) (i : bool) (Φ : val → iProp Σ).

  Lemma block_small bs : block_ok bs → Z.of_nat (length bs) ≤ max_elems.
  Proof. rewrite /block_ok. intros ->. by vm_compute. Qed.

  (** ** One disk *)
  Lemma wp_Disk__Read b E h a Φ :
    WP Eff (DevOp DiskRead) #(u64 a) @ b; E {{ v, ∃ bs, ⌜v = #(LitStr bs)⌝ ∗ ⌜block_ok bs⌝ ∗
      ∀ s, own_bytes_full b s bs -∗ Φ (slice_val s) }} -∗
    WP disk.Disk__Read h #(u64 a) @ b; E {{ Φ }}.
  Proof.
    iIntros "H". wp_rec. wp_pures. wp_bind (Eff _ _). iApply (wpe_wand with "H").
    iIntros (v) "(%bs & -> & %Hbs & HΦ)".
    iApply wp_string_to_slice; [by apply block_small|done|]. iIntros "!>" (s) "Hs". by iApply "HΦ".
  Qed.
  Lemma wp_Disk__Write b E h a s dq bs Φ :
    own_bytes b s dq bs -∗
    (own_bytes b s dq bs -∗ WP Eff (DevOp DiskWrite) (#(u64 a), #(LitStr bs))%V @ b; E {{ Φ }}) -∗
    WP disk.Disk__Write h #(u64 a) (slice_val s) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hs H". wp_rec. wp_pures. wp_bind (slice_to_string _).
    iApply (wp_slice_to_string with "Hs"). iIntros "!> Hs". wp_pures. by iApply "H".
  Qed.
  Lemma wp_Disk__Size b E h Φ :
    Φ #(u64 (disk_size (b_node b))) -∗ WP disk.Disk__Size h @ b; E {{ Φ }}.
  Proof. iIntros "HΦ". wp_rec. by iApply wpe_disk_size. Qed.

  Lemma wp_Disk__Read_owned b E h a bs : block_ok bs →
    {{{ a d↦[b_node b] bs }}}
      disk.Disk__Read h #(u64 a) @ b; E
    {{{ s, RET slice_val s; a d↦[b_node b] bs ∗ own_bytes_full b s bs }}}.
  Proof.
    iIntros (Hbs Φ) "Ha HΦ". iApply wp_Disk__Read. iApply (wpe_disk_read with "Ha").
    iIntros "!> Ha". iExists bs. do 2 (iSplit; [done|]). iIntros (s) "Hs". iApply "HΦ". iFrame.
  Qed.
  Lemma wp_Disk__Write_owned b E h a s dq bs bs0 : block_ok bs →
    {{{ a d↦[b_node b] bs0 ∗ own_bytes b s dq bs }}}
      disk.Disk__Write h #(u64 a) (slice_val s) @ b; E
    {{{ RET #(); a d↦[b_node b] bs ∗ own_bytes b s dq bs }}}.
  Proof.
    iIntros (Hbs Φ) "[Ha Hs] HΦ". iApply (wp_Disk__Write with "Hs"). iIntros "Hs".
    iApply (wpe_disk_write with "Ha"); [done|]. iIntros "!> Ha". iApply "HΦ". iFrame.
  Qed.

  (** ** Two disks *)
  Lemma wp_Two__Read b E h i a Φ :
    WP Eff (DevOp TwoRead) (which i, #(u64 a))%V @ b; E {{ v, ∃ bs (ok : bool),
      ⌜v = (#(LitStr bs), #ok)%V⌝ ∗ ⌜block_ok bs⌝ ∗
      ∀ s, own_bytes_full b s bs -∗ Φ (slice_val s, #ok)%V }} -∗
    WP disk.Two__Read h (which i) #(u64 a) @ b; E {{ Φ }}.
  Proof.
    iIntros "H". wp_rec. wp_pures. wp_bind (Eff _ _). iApply (wpe_wand with "H").
    iIntros (v) "(%bs & %ok & -> & %Hbs & HΦ)". wp_pures.
    wp_apply (wp_string_to_slice with "[//]"); [by apply block_small|].
    iIntros (s) "Hs". wp_pures. by iApply "HΦ".
  Qed.
  Lemma wp_Two__Write b E h i a s dq bs Φ :
    own_bytes b s dq bs -∗
    (own_bytes b s dq bs -∗
      WP Eff (DevOp TwoWrite) (which i, (#(u64 a), #(LitStr bs)))%V @ b; E {{ Φ }}) -∗
    WP disk.Two__Write h (which i) #(u64 a) (slice_val s) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hs H". wp_rec. wp_pures. wp_bind (slice_to_string _).
    iApply (wp_slice_to_string with "Hs"). iIntros "!> Hs". wp_pures. by iApply "H".
  Qed.
  Lemma wp_Two__Size b E h Φ :
    Φ #(u64 (two_size (b_node b))) -∗ WP disk.Two__Size h @ b; E {{ Φ }}.
  Proof. iIntros "HΦ". wp_rec. by iApply wpe_two_size. Qed.
End disk.
