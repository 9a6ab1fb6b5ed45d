(** * The methods of disk.Async: each is one effect on bytes

    Reading makes a slice of what the disk gives, writing gives the disk what is
    in a slice.  The rules leave the effect to be proved, so that an invariant can
    be opened around it. *)
From ashlar.golib Require Export slice_rules.
From ashlar.logic Require Export leaves.

Section rules.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a : Z) (s : slice) (bs : list Z) (h : val) (Φ : val → iProp Σ).

  Lemma wp_Async__Read b E h a Φ :
    WP Eff (DevOp AsyncRead) #(u64 a) @ b; E {{ v, ∃ bs, ⌜v = #(LitStr bs)⌝ ∗ ⌜block_ok bs⌝ ∗
      ∀ s, own_bytes_full b s bs -∗ Φ (slice_val s) }} -∗
    WP disk.Async__Read h #(u64 a) @ b; E {{ Φ }}.
  Proof.
    iIntros "H". wp_rec. wp_pures. wp_bind (Eff _ _). iApply (wpe_wand with "H").
    iIntros (v) "(%bs & -> & %Hbs & HΦ)". iApply wp_string_to_slice; [by rewrite Hbs|done|].
    iIntros "!>" (s) "Hs". by iApply "HΦ".
  Qed.
  Lemma wp_Async__Write b E h a s dq bs Φ :
    own_bytes b s dq bs -∗
    (own_bytes b s dq bs -∗ WP Eff (DevOp AsyncWrite) (#(u64 a), #(LitStr bs))%V @ b; E {{ Φ }}) -∗
    WP disk.Async__Write h #(u64 a) (slice_val s) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hs H". wp_rec. wp_pures. wp_bind (slice_to_string _).
    iApply (wp_slice_to_string with "Hs"). iIntros "!> Hs". wp_pures. by iApply "H".
  Qed.
  Lemma wp_Async__Size b E h Φ :
    Φ #(u64 (dn_async_size (durable (b_node b)))) -∗ WP disk.Async__Size h @ b; E {{ Φ }}.
  Proof. iIntros "HΦ". wp_rec. by iApply wpe_async_size. Qed.
  Lemma wp_Async__Barrier b E h Φ :
    WP Eff (DevOp AsyncBarrier) #() @ b; E {{ Φ }} -∗ WP disk.Async__Barrier h @ b; E {{ Φ }}.
  Proof. iIntros "H". by wp_rec. Qed.
End rules.
