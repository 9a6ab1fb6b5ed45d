------------------------------- MODULE Graphs --------------------------------
(* A directed graph is [node |-> set, edge |-> set of pairs of nodes].        *)
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets

IsDirectedGraph(G) ==
  /\ G = [node |-> G.node, edge |-> G.edge]
  /\ G.edge \subseteq (G.node \X G.node)

DirectedSubgraph(G) ==
  UNION {{[node |-> N, edge |-> E] : E \in SUBSET (G.edge \cap (N \X N))} : N \in SUBSET G.node}

Transpose(G) == [node |-> G.node, edge |-> {<<e[2], e[1]>> : e \in G.edge}]

(* Each edge has one in the other direction. *)
IsUndirectedGraph(G) == IsDirectedGraph(G) /\ \A e \in G.edge : <<e[2], e[1]>> \in G.edge

UndirectedSubgraph(G) == {H \in DirectedSubgraph(G) : IsUndirectedGraph(H)}

Path(G) ==
  {p \in Seq(G.node) : p /= <<>> /\ \A i \in 1..(Len(p) - 1) : <<p[i], p[i + 1]>> \in G.edge}

(* The paths on which no node occurs twice. *)
SimplePath(G) ==
  {p \in UNION {[1..n -> G.node] : n \in 1..Cardinality(G.node)} :
     /\ \A i, j \in DOMAIN p : p[i] = p[j] => i = j
     /\ \A i \in 1..(Len(p) - 1) : <<p[i], p[i + 1]>> \in G.edge}

AreConnectedIn(m, n, G) == \E p \in SimplePath(G) : p[1] = m /\ p[Len(p)] = n

(* For each pair of nodes whether a path leads from the first to the second.   *)
ConnectionsIn(G) == [p \in G.node \X G.node |-> AreConnectedIn(p[1], p[2], G)]

IsStronglyConnected(G) == \A m, n \in G.node : AreConnectedIn(m, n, G)

(* Edges lead from children to their parents. *)
IsTreeWithRoot(G, r) ==
  /\ r \in G.node
  /\ \A e \in G.edge : e[1] /= r /\ \A f \in G.edge : e[1] = f[1] => e = f
  /\ \A n \in G.node : AreConnectedIn(n, r, G)

EmptyGraph == [node |-> {}, edge |-> {}]

Graphs(S) == [node : {S}, edge : SUBSET (S \X S)]

Successors(G, n) == {m \in G.node : <<n, m>> \in G.edge}

Predecessors(G, n) == {m \in G.node : <<m, n>> \in G.edge}

Descendants(G, n) == {m \in G.node : \E k \in Successors(G, n) : AreConnectedIn(k, m, G)}

Ancestors(G, n) == {m \in G.node : \E k \in Predecessors(G, n) : AreConnectedIn(m, k, G)}
=============================================================================
