(** * What the shipped acceptor answers to a write, and what it has in memory then *)
From stdpp Require Import prelude gmap.
From ashlar.worm.acceptor Require Import promise messages redo.
From ashlar.worm.protocol Require register.
Local Open Scope Z_scope.

(** Ballots of worm/wor are in the order of the numbers that the protocol calls them by:
    [Ballot.Less] reports true if and only if the number of the first is smaller. *)
Theorem ballots_are_numbers `{!golangGS Σ} (b : boot) (x y : ballot) : ballot_ok x → ballot_ok y →
  {{{ True }}}
    wor.Ballot__Less (ballot_val x) (ballot_val y) @ b; ⊤
  {{{ RET #(bool_decide (protocol_ballot x < protocol_ballot y)%nat); True }}}.
Proof.
  iIntros (Hx Hy Φ) "_ HΦ". iApply (wp_Ballot__Less with "[//]"); [done..|].
  rewrite (bool_decide_ext _ _ (protocol_ballot_lt x y Hx Hy)). done.
Qed.

(** Of n servers, [wor.Majority] and [wor.FastQuorum] count as many as register_counted in
    register.v takes for a majority and for a fast quorum. *)
Theorem quorums_are_counted `{!golangGS Σ} (b : boot) (members : gset nat) : size members < 2 ^ 60 →
  ({{{ True }}} wor.Majority #(int (size members)) @ b; ⊤
   {{{ (q : nat), RET #(int q); ⌜∀ Q, counts.majority_of members Q ↔ Q ⊆ members ∧ (q ≤ size Q)%nat⌝ }}}) ∧
  ({{{ True }}} wor.FastQuorum #(int (size members)) @ b; ⊤
   {{{ (q : nat), RET #(int q); ⌜∀ Q, counts.fast_of members Q ↔ Q ⊆ members ∧ (q ≤ size Q)%nat⌝ }}}).
Proof.
  intros Hn. split; iIntros (Φ) "_ HΦ".
  - iApply (wp_Majority with "[//]"); [done|]. iIntros "!> _". by iApply "HΦ".
  - iApply (wp_FastQuorum with "[//]"); [done|]. iIntros "!> _". by iApply "HΦ".
Qed.

(** The function [judge] of internal/worm/paxos, which decides a write of value [v] at
    ballot [x] to one register, finds the register among the pages of its segment, in the
    form that [own_segment] and [page_ok] describe, changes nothing that a later answer depends
    on, and accepts if and only if what the protocol's step [Accept] asks of ballots and values
    holds there: nothing above [x] is promised, and nothing is accepted at [x].  That the
    value was proposed, and that the epoch is open and the segment not trimmed, it does not say.  Where
    it does not accept it says what the protocol lets a server say: OK only if this value is
    accepted at this ballot already, a conflict only if another one is, with that value,
    and outbid only if a higher ballot is promised, which it names. *)
Theorem judge_is_the_protocol `{!golangGS Σ} (b : boot) (segment : base_lit) (pgs : list page) (i : Z)
    (x : ballot) (value : slice) (v : list Z) :
  0 ≤ i < 2 ^ 32 → ballot_ok x → Forall page_ok pgs →
  let r := protocol_acceptor (register_of pgs i) in
  {{{ own_segment b segment pgs ∗ own_bytes b value DfracDiscarded v }}}
    paxos.judge #segment #(int i) (ballot_val x) (slice_val value) @ b; ⊤
  {{{ (a : answer) (s : slice) (accepts : bool), RET (answer_val 1 a s, #accepts);
      own_segment b segment pgs ∗ own_value b s (said_value a) ∗
      ⌜accepts = true ↔ (register.promised r ≤ protocol_ballot x)%nat ∧
         ∀ w, register.accepted r ≠ Some (protocol_ballot x, w)⌝ ∗
      ⌜accepts = true → a = Answer wor.StatusOK x true x None⌝ ∗
      ⌜accepts = false →
         (status a = wor.StatusOK ∧ register.accepted r = Some (protocol_ballot x, v)) ∨
         (status a = wor.StatusConflict ∧ ∃ w, w ≠ v ∧ said_value a = Some w ∧
            register.accepted r = Some (protocol_ballot x, w)) ∨
         (status a = wor.StatusOutbid ∧ (protocol_ballot x < register.promised r)%nat ∧
            protocol_ballot (said_promised a) = register.promised r)⌝ }}}.
Proof.
  intros Hi Hx Hpgs r. pose proof (register_of_ok pgs i Hpgs) as Hr.
  iIntros (Φ) "H HΦ". iApply (wp_judge with "H"); [done..|]. iIntros "!>" (s) "[Hseg Hv]". iApply "HΦ".
  iFrame "Hseg Hv". iPureIntro. subst r. set (r := register_of pgs i) in *.
  pose proof (protocol_ballot_lt x (promised r) Hx (proj1 Hr)) as Hlt.
  pose proof (λ w, protocol_accepted r x w Hr Hx) as Hacc.
  destruct r as [p c]. simpl promised in *. simpl accepted in *.
  pose proof (same_spec c x) as Hsame. destruct (same c x).
  - destruct Hsame as [w ->]. rewrite judged_same. assert (register.accepted (protocol_acceptor (Register p (Some (x, w)))) = Some (protocol_ballot x, w)) as Hw by done.
    destruct (decide (w = v)) as [->|Hne]; simpl; (split_and!; [|done|]).
    + split; [done|]. intros [_ Hno]. by destruct (Hno v).
    + intros _. by left.
    + split; [done|]. intros [_ Hno]. by destruct (Hno w).
    + intros _. right. left. split; [done|]. by exists w.
  - rewrite judged_other //. assert (∀ w, register.accepted (protocol_acceptor (Register p c)) ≠ Some (protocol_ballot x, w)) as Hno.
    { intros w Hw%Hacc. by destruct (Hsame w). }
    destruct (decide (number x < number p)) as [Hl|Hl]; simpl; (split_and!; [| |]).
    + split; [done|]. intros [Hle _]. apply Hlt in Hl. lia.
    + done.
    + intros _. right. right. split; [done|]. split; [by apply Hlt|done].
    + split; [intros _|done]. split; [|done]. destruct (decide (protocol_ballot x < protocol_ballot p)%nat) as [H%Hlt|]; lia.
    + done.
    + done.
Qed.

(** The function [Acceptor.accept], by which the acceptor stores a value that it has
    accepted.  Let [s] be a state of the protocol in which server [k] has register [i]
    as memory has it, and let the protocol allow that [k] accepts [v] at ballot [x] there.
    Afterwards memory has the register as [k] has it after that step, every other register
    of the segment as before, and is in the form from which [judge_is_the_protocol]
    starts.  [own_segment_at] says that pages, windows of values and tables of ballots, at [l], are those of
    [pgs]; a page that is not there yet is made.  Nobody may change the bytes of [v] any more. *)
Theorem accepting_is_the_protocol `{!golangGS Σ} `{Countable server} (σ : register.setting server)
    (s : register.state server (list Z)) (k : server) (b : boot) (a l : loc) (pgs : list page) (i : Z)
    (x : ballot) (value : slice) (v : list Z) :
  0 ≤ i < 2 ^ 32 → ballot_ok x →
  register.servers s k = protocol_acceptor (register_of pgs i) →
  let m := register.Accept k (protocol_ballot x) v in
  register.allowed σ s m →
  {{{ own_size b a ∗ own_segment_at b l pgs ∗ own_bytes b value DfracDiscarded v }}}
    paxos.Acceptor__accept #a #l #(int i) (ballot_val x) (slice_val value) @ b; ⊤
  {{{ pgs', RET #(); own_size b a ∗ own_segment_at b l pgs' ∗
      ⌜register.servers (register.effect s m) k = protocol_acceptor (register_of pgs' i)⌝ ∗
      ⌜∀ j, 0 ≤ j → j ≠ i → register_of pgs' j = register_of pgs j⌝ }}}.
Proof.
  intros Hi Hx Hk m Hm. iIntros (Φ) "(Hsize & Hseg & #Hv) HΦ".
  iDestruct (own_segment_ok with "Hseg") as %Hpgs. pose proof (register_of_ok pgs i Hpgs) as Hr.
  wp_apply (wp_Acceptor__accept with "[$Hsize $Hseg $Hv]"); [done|done| |].
  { intros y w Hy. destruct Hm as (_ & _ & Hle & _). rewrite Hk /= in Hle.
    pose proof (below_promised pgs i y w Hy) as Hyp.
    destruct (decide (number y ≤ number x)) as [|Hlt]; [done|]. exfalso.
    assert (number x < number (promised (register_of pgs i))) as Hlt' by lia.
    apply (protocol_ballot_lt x _ Hx (proj1 Hr)) in Hlt'. lia. }
  iIntros (pgs') "(Hsize & Hseg & %Hsay)". iApply ("HΦ" $! pgs'). iFrame "Hsize Hseg". iPureIntro. split.
  - rewrite Hsay; [|lia]. rewrite decide_True //. by eapply accepting_is_accept.
  - intros j Hj Hne. by rewrite Hsay // decide_False.
Qed.

(** The function [Acceptor.promise], by which the acceptor promises a ballot [x], other than zero, for the registers of
    segment [n] from [lo] on, below [hi].  Afterwards each of these that has promised no more than [x] is in
    memory as a server of the protocol has it after the step [Capture], which the protocol allows;
    one that has promised more is as before, and so are all other registers, of this segment and of all others.
    [own_registers] says that the map of segments at [a], with their pages, is that of [m]; a segment
    that is not there yet is made. *)
Theorem promising_is_the_protocol `{!golangGS Σ} (b : boot) (a : loc) (m : segments) (n lo hi : Z) (x : ballot) :
  0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x → x ≠ zero_ballot →
  {{{ own_registers b a m ∗ own_size b a ∗ own_scratch b a }}}
    paxos.Acceptor__promise #a #(u64 n) #(int lo) #(int hi) (ballot_val x) @ b; ⊤
  {{{ m', RET #(); own_registers b a m' ∗ own_size b a ∗ own_scratch b a ∗
      ⌜∀ n' j, 0 ≤ j → ¬ (n' = n ∧ lo ≤ j < hi) → state_of m' n' j = state_of m n' j⌝ ∗
      ⌜∀ j, lo ≤ j < hi → (protocol_ballot x < protocol_ballot (promised (state_of m n j)))%nat →
         state_of m' n j = state_of m n j⌝ ∗
      ⌜∀ j, lo ≤ j < hi → (protocol_ballot (promised (state_of m n j)) ≤ protocol_ballot x)%nat →
         ∀ (server : Type) `(Countable server) (s : register.state server (list Z)) (k : server),
           register.servers s k = protocol_acceptor (state_of m n j) →
           let c := register.Capture k (protocol_ballot x) in
           (∀ σ, register.allowed σ s c) ∧
           register.servers (register.effect s c) k = protocol_acceptor (state_of m' n j)⌝ }}}.
Proof.
  intros Hlo Hhi Hx Hne. iIntros (Φ) "(Hregs & Hsize & Hscratch) HΦ".
  iDestruct (own_registers_ok with "Hregs") as %Hok.
  wp_apply (wp_Acceptor__promise with "[$Hregs $Hsize $Hscratch]"); [done|done|done|].
  iIntros (m') "(Hregs & Hsize & Hscratch & %Hsay)". iApply ("HΦ" $! m'). iFrame "Hregs Hsize Hscratch".
  iPureIntro. split_and!.
  - intros n' j Hj Hout. by rewrite Hsay // decide_False.
  - intros j Hj Hlt. rewrite Hsay; [|lia]. rewrite decide_True //. rewrite /promising /raised decide_False; [by destruct (state_of m n j)|].
    apply (protocol_ballot_lt x _ Hx (proj1 (Hok n j))) in Hlt. lia.
  - intros j Hj Hle server ?? s k Hk. rewrite Hsay; [|lia]. rewrite decide_True //.
    by apply (promising_is_capture s k _ x (Hok n j) Hx Hk).
Qed.

(** The function [Acceptor.write], which answers a request to write [v] at ballot [x] to the
    registers of segment [n] from [lo] on, below [hi].  For each of these registers let [S j] be
    a state that the protocol reaches, in which server [k] has register [j] as memory has it,
    and in which the write was proposed.  The registers from [lo] on, below [stop], are
    answered.  For each of them [k] takes the step [Accept], which the protocol allows, or none; then
    [k] has the register as memory has it, and the answer is a message that [k] has sent:
    OK, that it accepted [v]; conflict, that it accepted the other value; outbid names the higher ballot
    that it promised.  All other registers are as before.  The log has new records, and redoing them
    in their order leads from the registers as they were to what they are. *)
Theorem writing_is_the_protocol `{!golangGS Σ} `{Countable server} (σ : register.setting server)
    (k : server) (S : Z → register.state server (list Z)) (b : boot) (a q r log : loc) dq (m : segments)
    (n lo hi : Z) (x : ballot) (value : slice) (v : list Z) (records : list (list Z)) :
  register.sound σ →
  in_range U64 n → 0 ≤ lo < hi → hi < 2 ^ 32 → hi - lo ≤ wor.RangeMax → ballot_ok x → Z.of_nat (length v) ≤ wor.ValueMax →
  (∀ j, lo ≤ j < hi → register.reachable σ (S j) ∧ register.Proposed (protocol_ballot x) v ∈ register.sent (S j) ∧
     register.servers (S j) k = protocol_acceptor (state_of m n j)) →
  {{{ own_registers b a m ∗ own_accounts b a ∗ own_request b q dq n lo hi x value ∗
      own_bytes b value DfracDiscarded v ∗ own_reply b r [] ∗ own_log b log records }}}
    paxos.Acceptor__write #a #q #r #log @ b; ⊤
  {{{ m' stop said recs, RET #(); own_registers b a m' ∗ own_accounts b a ∗ own_request b q dq n lo hi x value ∗
      own_reply b r said ∗ own_log b log (records ++ (bytes_of_record <$> recs)) ∗
      ⌜lo < stop ≤ hi ∧ Z.of_nat (length said) = stop - lo⌝ ∗
      ⌜∀ j, lo ≤ j < stop → ∃ s' answer, said !! Z.to_nat (j - lo) = Some answer ∧
         step_or_none σ (register.Accept k (protocol_ballot x) v) (S j) s' ∧
         register.servers s' k = protocol_acceptor (state_of m' n j) ∧ says_of_write s' k x v answer⌝ ∗
      ⌜∀ n' j, 0 ≤ j → ¬ (n' = n ∧ lo ≤ j < stop) → state_of m' n' j = state_of m n' j⌝ ∗
      ⌜redo_leads recs (state_of m) (state_of m')⌝ }}}.
Proof.
  intros Hσ Hn Hlo Hhi Hmax Hx Hv HS. iIntros (Φ) "(Hregs & (Hsize & Hscratch & Hreplied & Hrecord) & Hq & #Hvalue & Hreply & Hlog) HΦ".
  iDestruct (own_registers_ok with "Hregs") as %Hok.
  wp_apply (wp_Acceptor__write with "[$Hregs $Hsize $Hreplied $Hrecord $Hq $Hvalue $Hreply $Hlog]"); [done|lia|done|done|simpl; lia|].
  iIntros (m' stop spans) "(Hregs & Hsize & Hreplied & Hrecord & Hq & Hreply & Hlog & %Hstop & %Hprogress & %Hall & %Hm' & %Hspans)".
  assert (stop ≠ lo) as Hne by (intros Heq; destruct (Hprogress Heq); [lia|done]).
  iApply ("HΦ" $! m' stop (write_answers m n x v lo stop) ((λ se, Accepts n se.1 se.2 x v) <$> spans)).
  iFrame "Hregs Hsize Hscratch Hreplied Hrecord Hq Hreply". rewrite -list_fmap_compose. iFrame "Hlog".
  iPureIntro. split_and!; [lia|lia|by rewrite answers_length; lia| | |].
  - intros j Hj. destruct (HS j) as (Hreach & Hprop & Hk); [lia|].
    destruct (write_is_permitted σ (S j) k (state_of m n j) x v Hσ Hreach (Hok n j) Hx Hprop Hk) as (s' & Hsteps & Hs' & Hsays).
    exists s', (heard (judged (state_of m n j) x v).1). split_and!; [|done| |done].
    + by apply answers_lookup.
    + rewrite Hm'; [|lia]. by rewrite decide_True.
  - intros n' j Hj Hout. by rewrite Hm' // decide_False.
  - by eapply spans_lead; [..|done|done|done|done]; try lia.
Qed.

(** The function [Acceptor.capture], which answers a request to capture the registers of segment [n]
    from [lo] on, below [hi], at ballot [x], in the same way: OK is the message that [k] promised [x], with the
    value that it had accepted and at which ballot, if any; outbid names the higher ballot that it promised. *)
Theorem capturing_is_the_protocol `{!golangGS Σ} `{Countable server} (σ : register.setting server)
    (k : server) (S : Z → register.state server (list Z)) (b : boot) (a q r log : loc) dq (m : segments)
    (n lo hi : Z) (x : ballot) (value : slice) (records : list (list Z)) :
  in_range U64 n → 0 ≤ lo < hi → hi < 2 ^ 32 → hi - lo ≤ wor.RangeMax → ballot_ok x → x ≠ zero_ballot →
  (∀ j, lo ≤ j < hi → register.reachable σ (S j) ∧ register.servers (S j) k = protocol_acceptor (state_of m n j)) →
  {{{ own_registers b a m ∗ own_accounts b a ∗ own_request b q dq n lo hi x value ∗ own_reply b r [] ∗ own_log b log records }}}
    paxos.Acceptor__capture #a #q #r #log @ b; ⊤
  {{{ m' stop said recs, RET #(); own_registers b a m' ∗ own_accounts b a ∗ own_request b q dq n lo hi x value ∗
      own_reply b r said ∗ own_log b log (records ++ (bytes_of_record <$> recs)) ∗
      ⌜lo < stop ≤ hi ∧ Z.of_nat (length said) = stop - lo⌝ ∗
      ⌜∀ j, lo ≤ j < stop → ∃ s' answer, said !! Z.to_nat (j - lo) = Some answer ∧
         step_or_none σ (register.Capture k (protocol_ballot x)) (S j) s' ∧
         register.servers s' k = protocol_acceptor (state_of m' n j) ∧ says_of_capture s' k x answer⌝ ∗
      ⌜∀ n' j, 0 ≤ j → ¬ (n' = n ∧ lo ≤ j < stop) → state_of m' n' j = state_of m n' j⌝ ∗
      ⌜redo_leads recs (state_of m) (state_of m')⌝ }}}.
Proof.
  intros Hn Hlo Hhi Hmax Hx Hx0 HS. iIntros (Φ) "(Hregs & (Hsize & Hscratch & Hreplied & Hrecord) & Hq & Hreply & Hlog) HΦ".
  iDestruct (own_registers_ok with "Hregs") as %Hok.
  wp_apply (wp_Acceptor__capture with "[$Hregs $Hsize $Hscratch $Hreplied $Hrecord $Hq $Hreply $Hlog]"); [done|lia|done|done|simpl; lia|].
  iIntros (m' stop fresh) "(Hregs & Hsize & Hscratch & Hreplied & Hrecord & Hq & Hreply & Hlog & %Hstop & %Hprogress & %Hfresh & %Hm')".
  assert (stop ≠ lo) as Hne by (intros Heq; destruct (Hprogress Heq); [lia|done]).
  iApply ("HΦ" $! m' stop (capture_answers m n x lo stop) (if fresh then [Promises n lo stop x] else [])).
  iFrame "Hregs Hsize Hscratch Hreplied Hrecord Hq Hreply". iSplitL "Hlog"; [by destruct fresh|].
  iPureIntro. split_and!; [lia|lia|by rewrite answers_length; lia| | |].
  - intros j Hj. destruct (HS j) as (Hreach & Hk); [lia|].
    destruct (capture_is_permitted σ (S j) k (state_of m n j) x Hreach (Hok n j) Hx Hx0 Hk) as (s' & Hsteps & Hs' & Hsays).
    exists s', (heard (captured (state_of m n j) x)). split_and!; [|done| |done].
    + by apply answers_lookup.
    + rewrite Hm'; [|lia]. by rewrite decide_True.
  - intros n' j Hj Hout. by rewrite Hm' // decide_False.
  - apply (capture_leads m n x lo hi stop fresh); [done|lia|lia|done|done|done|done|done|done].
Qed.

(** The function [Acceptor.Redo], by which an acceptor that starts reads its log again, if nothing is trimmed.
    Given a record that is within the limits and does not contradict what is there, it
    reports no error, and the registers are as [redone] says.  So if it is given the records of the two theorems above, in their
    order, and begins with the registers as they were before the first, it ends with the registers as they are after the last. *)
Theorem redoing_a_record `{!golangGS Σ} (b : boot) (a : loc) (m : segments) (rec : logged) (s : slice) dq :
  logged_ok rec → may_redo rec (state_of m) →
  {{{ own_registers b a m ∗ own_accounts b a ∗ own_untrimmed b a ∗ own_bytes b s dq (bytes_of_record rec) }}}
    paxos.Acceptor__Redo #a (slice_val s) @ b; ⊤
  {{{ m', RET #null; own_registers b a m' ∗ own_accounts b a ∗ own_untrimmed b a ∗
      ⌜∀ n j, 0 ≤ j → state_of m' n j = redone rec (state_of m) n j⌝ }}}.
Proof.
  intros Hrec Hmay. iIntros (Φ) "(Hregs & (Hsize & Hscratch & Hrest) & Huntrimmed & Hs) HΦ".
  wp_apply (wp_Acceptor__Redo with "[$Hregs $Hsize $Hscratch $Huntrimmed $Hs]"); [done|done|].
  iIntros (m') "(Hregs & Hsize & Hscratch & Huntrimmed & %Hm')". iApply ("HΦ" $! m'). by iFrame.
Qed.

Definition theorems := (
  @ballots_are_numbers,
  @quorums_are_counted,
  @judge_is_the_protocol,
  @accepting_is_the_protocol,
  @promising_is_the_protocol,
  @writing_is_the_protocol,
  @capturing_is_the_protocol,
  @redoing_a_record).
Print Assumptions theorems.
