(** * The primitive Go packages (goose/primitive/...)

    What the translator makes of calls to them.  A handle (the first argument of
    a method) is there in Go because a process may open several devices; here a
    node has one of each kind, and the handle is not looked at. *)
From ashlar.trusted Require Export sync.

Module disk.
  Definition Disk__Read : val := λ: "d" "a", string_to_slice (Eff (DevOp DiskRead) "a").
  Definition Disk__Write : val :=
    λ: "d" "a" "b", Eff (DevOp DiskWrite) ("a", slice_to_string "b").
  Definition Disk__Size : val := λ: "d", Eff (DevOp DiskSize) #().

  (** Which of the two: #0 or #1. Read gives the block and whether the disk lives. *)
  Definition Two__Read : val :=
    λ: "d" "which" "a",
      let: "r" := Eff (DevOp TwoRead) ("which", "a") in (string_to_slice (Fst "r"), Snd "r").
  Definition Two__Write : val :=
    λ: "d" "which" "a" "b", Eff (DevOp TwoWrite) ("which", ("a", slice_to_string "b")).
  Definition Two__Size : val := λ: "d", Eff (DevOp TwoSize) #().

  Definition Async__Read : val := λ: "d" "a", string_to_slice (Eff (DevOp AsyncRead) "a").
  Definition Async__Write : val :=
    λ: "d" "a" "b", Eff (DevOp AsyncWrite) ("a", slice_to_string "b").
  Definition Async__Size : val := λ: "d", Eff (DevOp AsyncSize) #().
  Definition Async__Barrier : val := λ: "d", Eff (DevOp AsyncBarrier) #().

  Definition BlockSize : val := #(u64 4096).
End disk.

Module filesys.
  Definition FS__Create : val := λ: "f" "dir" "name", Eff (DevOp FsCreate) ("dir", "name").
  Definition FS__Open : val := λ: "f" "dir" "name", Eff (DevOp FsOpen) ("dir", "name").
  Definition FS__Append : val :=
    λ: "f" "fd" "data", Eff (DevOp FsAppend) ("fd", slice_to_string "data").
  Definition FS__ReadAt : val :=
    λ: "f" "fd" "off" "n", string_to_slice (Eff (DevOp FsReadAt) ("fd", ("off", "n"))).
  Definition FS__Size : val := λ: "f" "fd", Eff (DevOp FsSize) "fd".
  Definition FS__Close : val := λ: "f" "fd", Eff (DevOp FsClose) "fd".
  Definition FS__Link : val :=
    λ: "f" "dir" "name" "dir2" "name2", Eff (DevOp FsLink) (("dir", "name"), ("dir2", "name2")).
  Definition FS__Unlink : val := λ: "f" "dir" "name", Eff (DevOp FsUnlink) ("dir", "name").
  (** The names as a slice of strings. *)
  Definition FS__List : val :=
    λ: "f" "dir",
      let: "names" := Eff (DevOp FsList) "dir" in
      (rec: "loop" "s" "l" :=
         match: "l" with
           InjL <> => "s"
         | InjR "c" => "loop" (append_one stringT "s" (Fst "c")) (Snd "c")
         end) slice_nil "names".
  Definition FS__Sync : val := λ: "f" "fd", Eff (DevOp FsSync) "fd".
  Definition FS__SyncDir : val := λ: "f" "dir", Eff (DevOp FsSyncDir) "dir".
End filesys.

Module machine.
  Definition RandomUint64 : val := λ: <>, Eff (ArbOp (ArbInt U64)) #().
  (** Little endian, eight bytes at the start of the slice. *)
  Definition UInt64Put : val :=
    λ: "b" "n",
      (rec: "loop" "i" "n" :=
         if: "i" < #(int 8) then
           slice_set byteT "b" "i" (UnOp (ToIntOp U8) "n");;
           "loop" ("i" + #(int 1)) ("n" ≫ #(u64 8))
         else #()) #(int 0) "n".
  Definition UInt64Get : val :=
    λ: "b",
      (rec: "loop" "i" "n" :=
         if: #(int 0) < "i" then
           "loop" ("i" - #(int 1))
             (("n" ≪ #(u64 8)) + UnOp (ToIntOp U64) (slice_get byteT "b" ("i" - #(int 1))))
         else "n") #(int 8) #(u64 0).
  (** The digit as a string of one character. *)
  Definition string_digit : val :=
    λ: "n", string_sub #(str "0123456789") "n" ("n" + #(u64 1)).
  (** The number in decimal digits, as strconv.FormatUint(n, 10) writes it. *)
  Definition UInt64ToString : val :=
    λ: "n",
      (rec: "loop" "n" "s" :=
         let: "s" := string_digit ("n" `rem` #(u64 10)) + "s" in
         if: "n" < #(u64 10) then "s" else "loop" ("n" `quot` #(u64 10)) "s") "n" #(LitStr []).
End machine.
