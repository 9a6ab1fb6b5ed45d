-------------------------- MODULE UndirectedGraphs ---------------------------
(* An undirected graph is [node |-> set, edge |-> set of sets {m, n}].        *)
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets

IsUndirectedGraph(G) ==
  /\ G = [node |-> G.node, edge |-> G.edge]
  /\ \A e \in G.edge : \E m, n \in G.node : e = {m, n}

IsLoopFreeUndirectedGraph(G) ==
  /\ IsUndirectedGraph(G)
  /\ \A e \in G.edge : Cardinality(e) = 2

UndirectedSubgraph(G) ==
  UNION {{[node |-> N, edge |-> E] : E \in SUBSET {e \in G.edge : e \subseteq N}} : N \in SUBSET G.node}

Path(G) ==
  {p \in Seq(G.node) : p /= <<>> /\ \A i \in 1..(Len(p) - 1) : {p[i], p[i + 1]} \in G.edge}

(* The paths on which no node occurs twice. *)
SimplePath(G) ==
  {p \in UNION {[1..n -> G.node] : n \in 1..Cardinality(G.node)} :
     /\ \A i, j \in DOMAIN p : p[i] = p[j] => i = j
     /\ \A i \in 1..(Len(p) - 1) : {p[i], p[i + 1]} \in G.edge}

AreConnectedIn(m, n, G) == \E p \in SimplePath(G) : p[1] = m /\ p[Len(p)] = n

ConnectedComponents(G) == {{n \in G.node : AreConnectedIn(m, n, G)} : m \in G.node}

IsStronglyConnected(G) == \A m, n \in G.node : AreConnectedIn(m, n, G)

(* The graphs with the nodes S, with loops or without. *)
UndirectedGraphs(S) == [node : {S}, edge : SUBSET {{m, n} : m, n \in S}]
=============================================================================
