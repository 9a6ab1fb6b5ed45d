(** * Model of the file system

    A fixed set of directories; names; inodes with hard links; descriptors that
    die with the process; contents that are durable after [FsSync], names that
    are durable after [FsSyncDir].  An operation that fails for a reason that is
    not in its result (no space, no descriptor left, I/O error) stops the process:
    that is a crash.  A descriptor is a number of which programs can do nothing
    but hand it back, and there are as many as there are numbers. *)
From ashlar.trusted Require Export disk.

Record inode := Inode { in_data : bytes; in_synced : nat (* bytes that are durable *) }.
Record filesys := Filesys {
  fs_dirs : gmap bytes (gmap bytes (cached (option Z)));  (* directory, name: inode *)
  fs_inodes : gmap Z inode;
  fs_fds : gmap Z (Z * bool)                               (* inode, opened for append *)
}.

Definition entry (names : gmap bytes (cached (option Z))) (name : bytes) : cached (option Z) :=
  default (ca_new None) (names !! name).
Definition fs_entry (f : filesys) (dir name : bytes) : option Z :=
  names ← fs_dirs f !! dir; ca_latest (entry names name).
Definition set_entry (dir name : bytes) (i : option Z) (f : filesys) : filesys :=
  Filesys (alter (λ names, <[name := ca_write i (entry names name)]> names) dir (fs_dirs f))
    (fs_inodes f) (fs_fds f).
Definition set_inode (i : Z) (n : inode) (f : filesys) : filesys :=
  Filesys (fs_dirs f) (<[i := n]> (fs_inodes f)) (fs_fds f).
Definition set_fds (fds : gmap Z (Z * bool)) (f : filesys) : filesys :=
  Filesys (fs_dirs f) (fs_inodes f) fds.
Definition sync_dir (dir : bytes) (f : filesys) : filesys :=
  Filesys (alter (fmap ca_flush) dir (fs_dirs f)) (fs_inodes f) (fs_fds f).

Notation vstr s := (LitV (LitStr s)) (only parsing).
Notation vfd fd := (LitV (LitInt U64 fd)) (only parsing).
Notation vbool b := (LitV (LitBool b)) (only parsing).

Inductive fs_step : dev_op → val → filesys → val → filesys → Prop :=
  (* Create(dir, name): a new empty file, open for append; false when the name is taken *)
  | FsCreateS dir name i fd f : is_Some (fs_dirs f !! dir) → fs_entry f dir name = None →
     fs_inodes f !! i = None → (0 ≤ i)%Z → fs_fds f !! fd = None → (0 ≤ fd)%Z →
     fs_step FsCreate (PairV (vstr dir) (vstr name)) f (PairV (vfd fd) (vbool true))
       (set_fds (<[fd := (i, true)]> (fs_fds f)) (set_inode i (Inode [] 0) (set_entry dir name (Some i) f)))
  | FsCreateTakenS dir name i f : fs_entry f dir name = Some i →
     fs_step FsCreate (PairV (vstr dir) (vstr name)) f (PairV (vfd 0%Z) (vbool false)) f
  (* Open(dir, name): for reading; false when there is no such name *)
  | FsOpenS dir name i fd f : fs_entry f dir name = Some i → fs_fds f !! fd = None → (0 ≤ fd)%Z →
     fs_step FsOpen (PairV (vstr dir) (vstr name)) f (PairV (vfd fd) (vbool true))
       (set_fds (<[fd := (i, false)]> (fs_fds f)) f)
  | FsOpenMissingS dir name f : is_Some (fs_dirs f !! dir) → fs_entry f dir name = None →
     fs_step FsOpen (PairV (vstr dir) (vstr name)) f (PairV (vfd 0%Z) (vbool false)) f
  (* Append(fd, data) *)
  | FsAppendS fd i s n f : fs_fds f !! fd = Some (i, true) → fs_inodes f !! i = Some n →
     fs_step FsAppend (PairV (vfd fd) (vstr s)) f (LitV LitUnit)
       (set_inode i (Inode (in_data n ++ s) (in_synced n)) f)
  (* ReadAt(fd, offset, length): what is there, at most length bytes *)
  | FsReadAtS fd i n off len f : fs_fds f !! fd = Some (i, false) → fs_inodes f !! i = Some n →
     fs_step FsReadAt (PairV (vfd fd) (PairV (LitV (LitInt U64 off)) (LitV (LitInt U64 len)))) f
       (vstr (take (Z.to_nat len) (drop (Z.to_nat off) (in_data n)))) f
  | FsSizeS fd i m n f : fs_fds f !! fd = Some (i, m) → fs_inodes f !! i = Some n →
     fs_step FsSize (vfd fd) f (LitV (LitInt U64 (wrap U64 (length (in_data n))))) f
  | FsCloseS fd x f : fs_fds f !! fd = Some x →
     fs_step FsClose (vfd fd) f (LitV LitUnit) (set_fds (delete fd (fs_fds f)) f)
  (* Link(dir, name, newDir, newName): false when the new name is taken *)
  | FsLinkS dir name dir2 name2 i f : fs_entry f dir name = Some i →
     is_Some (fs_dirs f !! dir2) → fs_entry f dir2 name2 = None →
     fs_step FsLink (PairV (PairV (vstr dir) (vstr name)) (PairV (vstr dir2) (vstr name2))) f
       (vbool true) (set_entry dir2 name2 (Some i) f)
  | FsLinkTakenS dir name dir2 name2 i j f : fs_entry f dir name = Some i → fs_entry f dir2 name2 = Some j →
     fs_step FsLink (PairV (PairV (vstr dir) (vstr name)) (PairV (vstr dir2) (vstr name2))) f
       (vbool false) f
  (* Unlink(dir, name): the name must exist *)
  | FsUnlinkS dir name i f : fs_entry f dir name = Some i →
     fs_step FsUnlink (PairV (vstr dir) (vstr name)) f (LitV LitUnit) (set_entry dir name None f)
  (* List(dir): the names that are there, each once, in any order *)
  | FsListS dir names l f : fs_dirs f !! dir = Some names → NoDup l →
     (∀ name, name ∈ l ↔ is_Some (ca_latest (entry names name))) →
     fs_step FsList (vstr dir) f (list_val ((λ s, vstr s) <$> l)) f
  (* Sync(fd): the content is durable;  SyncDir(dir): the names are *)
  | FsSyncS fd i m n f : fs_fds f !! fd = Some (i, m) → fs_inodes f !! i = Some n →
     fs_step FsSync (vfd fd) f (LitV LitUnit) (set_inode i (Inode (in_data n) (length (in_data n))) f)
  | FsSyncDirS dir f : is_Some (fs_dirs f !! dir) →
     fs_step FsSyncDir (vstr dir) f (LitV LitUnit) (sync_dir dir f).

(** A crash: descriptors are gone; each name keeps one of its possible inodes;
    each inode keeps its durable bytes, and what follows them is anything that is
    not longer than what was there. *)
Definition inode_crash (n n' : inode) : Prop :=
  ∃ tail, in_data n' = take (in_synced n) (in_data n) ++ tail ∧
    length (in_data n') ≤ length (in_data n) ∧ Forall (in_range U8) tail ∧
    in_synced n' = length (in_data n').
Definition names_crash (m m' : gmap bytes (cached (option Z))) : Prop :=
  ∀ name, ∃ i, i ∈ ca_possible (entry m name) ∧ entry m' name = ca_new i.
Definition fs_crash (f f' : filesys) : Prop :=
  fs_fds f' = ∅ ∧
  (∀ dir, match fs_dirs f !! dir, fs_dirs f' !! dir with
          | Some m, Some m' => names_crash m m' | None, None => True | _, _ => False end) ∧
  (∀ i, match fs_inodes f !! i, fs_inodes f' !! i with
        | Some n, Some n' => inode_crash n n' | None, None => True | _, _ => False end).
