-------------------------------- MODULE cart --------------------------------
(***************************************************************************)
(* A shopping cart that is replicated without coordination: an add-wins    *)
(* observed-remove set.  Every replica keeps, for each item, the vector    *)
(* clock of the adds and of the removes that it knows of.  Nodes change    *)
(* their own replica only, and send it to each other now and then; who     *)
(* receives one merges it into its own.  Merging is commutative,           *)
(* associative and idempotent, so messages may be lost, overtake each      *)
(* other and arrive twice: a link is a set, and what is read from it may   *)
(* stay in it.                                                             *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, FiniteSetsExt, TLC

CONSTANTS
  Nodes,
  Items,
  Scripts,    \* what the user of each node does: a sequence of [op, item]
  Budget      \* how often each node sends its replica

ASSUME DOMAIN Scripts = Nodes /\ Budget \in Nat

-----------------------------------------------------------------------------
\* Vector clocks.
Zero        == [n \in Nodes |-> 0]
Later(x, y) == IF x > y THEN x ELSE y
Join(a, b)  == [n \in Nodes |-> Later(a[n], b[n])]
a \preceq b == \A n \in Nodes : a[n] <= b[n]

\* The set.  An item is in it unless a remove has seen all its adds.
EmptyCart == [added |-> [i \in Items |-> Zero], removed |-> [i \in Items |-> Zero]]
Query(c)  == {i \in Items : ~(c.added[i] \preceq c.removed[i])}
Tick(c, n, i) == LET seen == Join(c.added[i], c.removed[i]) IN [seen EXCEPT ![n] = @ + 1]
Merge(c, d) ==
  [added   |-> [i \in Items |-> Join(c.added[i], d.added[i])],
   removed |-> [i \in Items |-> Join(c.removed[i], d.removed[i])]]

Apply(c, n, step) ==
  CASE step.op = "add"    -> [c EXCEPT !.added[step.item] = Tick(c, n, step.item)]
    [] step.op = "remove" -> [c EXCEPT !.removed[step.item] = Tick(c, n, step.item)]
    [] OTHER              -> c

(*
--mpcal Cart {
  define {
    Users     == Nodes \X {"user"}
    Gossipers == Nodes \X {"gossip"}
  }

  \* The replica of a node as its user sees it.
  mapping macro ObservedRemoveSet {
    read { yield Query($variable); }
    write { yield Apply($variable, self[1], $value); }
  }

  \* The replica as others see it.
  mapping macro State {
    read { yield $variable; }
    write { yield Merge($variable, $value); }
  }

  mapping macro Unreliable {
    read {
      with (m \in $variable) {
        either {
          $variable := $variable \ {m};
        } or {
          skip;
        };
        yield m;
      };
    }
    write {
      either {
        yield $variable \cup {$value};
      } or {
        skip;
      };
    }
  }

  \* A node does what its user wants ...
  archetype ANode(ref cart[_], script)
  variables done = 0;
  {
    use:
      while (done < Len(script)) {
        done := done + 1;
        cart[self[1]] := script[done];
        with (s = script[done], items = cart[self[1]]) {
          assert (s.op = "add") = (s.item \in items);
        };
      };
  }

  \* ... and beside that sends its replica to others and takes in theirs.
  archetype AGossip(ref replica[_], ref net[_], me, budget)
  {
    gossip:
      while (TRUE) {
        either {
          await budget > 0;
          budget := budget - 1;
          with (n \in Nodes \ {me}) { net[n] := replica[me]; };
        } or {
          replica[me] := net[me];
        };
      };
  }

  variables
    carts = [n \in Nodes |-> EmptyCart],
    links = [n \in Nodes |-> {}];

  fair process (Node \in Users) == instance ANode(ref carts[_], Scripts[Node[1]])
    mapping carts[_] via ObservedRemoveSet;

  fair process (Gossiper \in Gossipers) == instance AGossip(ref carts[_], ref links[_], Gossiper[1], Budget)
    mapping @1[_] via State
    mapping links[_] via Unreliable;
}
*)
-----------------------------------------------------------------------------

Clocks == [Items -> [Nodes -> Nat]]
TypeOK ==
  /\ \A n \in Nodes : carts[n].added \in Clocks /\ carts[n].removed \in Clocks
  /\ \A n \in Nodes : \A m \in links[n] : DOMAIN m = {"added", "removed"}

\* All that all nodes know.
Everything == FoldSet(LAMBDA n, c : Merge(carts[n], c), EmptyCart, Nodes)

c \sqsubseteq d == \A i \in Items : c.added[i] \preceq d.added[i] /\ c.removed[i] \preceq d.removed[i]

\* Nobody says more than is known, of somebody or of itself.
NothingInvented ==
  /\ \A n \in Nodes : carts[n] \sqsubseteq Everything
  /\ \A n \in Nodes : \A m \in links[n] : m \sqsubseteq Everything

\* What is merged does not depend on order.
MergeIsJoin ==
  \A a, b, c \in Nodes :
    LET x == carts[a]  y == carts[b]  z == carts[c] IN
    /\ Merge(x, y) = Merge(y, x)
    /\ Merge(x, Merge(y, z)) = Merge(Merge(x, y), z)
    /\ Merge(x, x) = x

\* An item that one has added, and that nobody has removed after seeing that,
\* is in the cart that all come to.
AddWins ==
  \A n \in Nodes : \A i \in Query(carts[n]) :
    (\A m \in Nodes \ {n} : carts[m].removed[i][n] < carts[n].added[i][n]) /\ carts[n].added[i][n] > carts[n].removed[i][n]
      => i \in Query(Everything)

\* Who knows the same has the same in the cart.
Converged == \A a, b \in Nodes : carts[a] \sqsubseteq carts[b] /\ carts[b] \sqsubseteq carts[a] => Query(carts[a]) = Query(carts[b])

\* Knowledge only grows.
Grows == [][\A n \in Nodes : carts[n] \sqsubseteq carts'[n]]_carts

\* For a configuration with a mistake: the last message wins.
Overwrite(mine, received) == received

Op(op, item) == [op |-> op, item |-> item]
Shop ==
  [n \in Nodes |-> CASE n = "ann" -> << Op("add", "tea"), Op("remove", "tea") >>
                     [] n = "bob" -> << Op("add", "tea"), Op("add", "jam") >>
                     [] OTHER     -> << >>]
=============================================================================
