(* Generated from github.com/ashlar-dev/ashlar/examples/asyncwal. Do not edit. *)
From ashlar.trusted Require Import primitive.

(* Blocks is the size of the disk that a pair needs. *)
Definition Blocks : val := #(u64 5).

Definition Log : struct := [
  ("disk", ptrT);
  ("mu", mutexT)
].

Definition counts : val :=
  λ: "header", slice_get byteT "header" #(int 0) = #(u8 1).

Definition newHeader : val :=
  λ: <>,
    let: "header" := make_slice byteT #(int 4096) in
    slice_set byteT "header" #(int 0) #(u8 1);;
    "header".

Definition apply : val :=
  λ: "d" "a" "b",
    disk.Async__Write "d" #(u64 3) "a";;
    disk.Async__Write "d" #(u64 4) "b";;
    disk.Async__Barrier "d";;
    disk.Async__Write "d" #(u64 0) (make_slice byteT #(int 4096)).

Definition recoverLog : val :=
  λ: "d",
    let: "header" := disk.Async__Read "d" #(u64 0) in
    if: counts "header" then
      let: "a" := disk.Async__Read "d" #(u64 1) in
      let: "b" := disk.Async__Read "d" #(u64 2) in
      apply "d" "a" "b"
    else #().

Definition Open : val :=
  λ: "d",
    recoverLog "d";;
    ref (structT Log) ("d", (#false, #())).

Definition Log__Read : val :=
  λ: "l",
    mutex_lock ("l".[Log, "mu"]);;
    let: "a" := disk.Async__Read (![ptrT] ("l".[Log, "disk"])) #(u64 3) in
    let: "b" := disk.Async__Read (![ptrT] ("l".[Log, "disk"])) #(u64 4) in
    mutex_unlock ("l".[Log, "mu"]);;
    ("a", "b").

Definition Log__Commit : val :=
  λ: "l" "a" "b",
    mutex_lock ("l".[Log, "mu"]);;
    disk.Async__Barrier (![ptrT] ("l".[Log, "disk"]));;
    disk.Async__Write (![ptrT] ("l".[Log, "disk"])) #(u64 1) "a";;
    disk.Async__Write (![ptrT] ("l".[Log, "disk"])) #(u64 2) "b";;
    disk.Async__Barrier (![ptrT] ("l".[Log, "disk"]));;
    disk.Async__Write (![ptrT] ("l".[Log, "disk"])) #(u64 0) (newHeader #());;
    disk.Async__Barrier (![ptrT] ("l".[Log, "disk"]));;
    apply (![ptrT] ("l".[Log, "disk"])) "a" "b";;
    mutex_unlock ("l".[Log, "mu"]).
