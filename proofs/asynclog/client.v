(** * A client of the log: the calls of the write-ahead log's client *)
From ashlar.gen.examples Require asynclog.
From ashlar.wal Require Export client.

(** Make the call, give the result. *)
Definition do_call : val :=
  λ: "l" "call",
    match: "call" with
      InjL "a" => slice_to_string (asynclog.Log__Read "l" "a")
    | InjR "us" =>
      let2: "addrs" "blocks" := to_slices "us" slice_nil slice_nil in
      asynclog.Log__Commit "l" "addrs" "blocks"
    end.
