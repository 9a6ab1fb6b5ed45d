--------------------------------- MODULE likes ---------------------------------
(* A page that is served by several nodes counts how often it is liked. Each   *)
(* node adds the likes of its readers to a replicated counter, and shows what  *)
(* it knows, which never shrinks. In the end all of them show everything.      *)
EXTENDS Integers, Sequences, AshlarResources

CONSTANTS
  Nodes,
  Likes     \* how many readers of each node like the page

(*
--mpcal likes {
  archetype ANode(ref likes, each, all)
  variables given = 0, shown = 0;
  {
    serve:
      while (given < each \/ shown < all) {
        either {
          await given < each;
          given := given + 1;
          likes := 1;
        } or {
          with (n = likes) {
            await n > shown;
            shown := n;
          };
        };
      };
  }

  variables likes = NewGrowCounter(Nodes);

  fair process (Node \in Nodes) == instance ANode(ref likes, Likes, Likes * 3)
    mapping likes via GrowCounter;
}
*)
--------------------------------------------------------------------------------

Total == GrowCounterTotal(likes)

\* Nothing is shown that no reader has given.
Honest == \A n \in Nodes : shown[n] <= Total
\* What is shown only grows.
Grows  == [][\A n \in Nodes : shown'[n] >= shown[n]]_shown
\* All nodes show everything in the end.
Shown  == <>(\A n \in Nodes : shown[n] = Likes * 3)

\* What the counter does not promise: that a node knows at once what others have added.
AtOnce == \A n \in Nodes : pc[n] = "Done" => \A m \in Nodes : likes[m].seen = Total
================================================================================
