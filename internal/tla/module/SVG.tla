--------------------------------- MODULE SVG ---------------------------------
(* Drawings of states. An element is a record of a name, attributes, children *)
(* and text; attributes are a function from names, in which an underscore     *)
(* stands for a hyphen.                                                       *)
LOCAL INSTANCE Integers
LOCAL INSTANCE FiniteSets
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLC

LOCAL Texts(r) == [f \in DOMAIN r |-> ToString(r[f])]

SVGElem(name, attrs, children, innerText) ==
  [name |-> name, attrs |-> attrs, children |-> children, innerText |-> innerText]

Line(x1, y1, x2, y2, attrs) ==
  SVGElem("line", Texts([x1 |-> x1, y1 |-> y1, x2 |-> x2, y2 |-> y2]) @@ attrs, <<>>, "")

Circle(cx, cy, r, attrs) ==
  SVGElem("circle", Texts([cx |-> cx, cy |-> cy, r |-> r]) @@ attrs, <<>>, "")

Rect(x, y, w, h, attrs) ==
  SVGElem("rect", Texts([x |-> x, y |-> y, width |-> w, height |-> h]) @@ attrs, <<>>, "")

Text(x, y, text, attrs) ==
  SVGElem("text", Texts([x |-> x, y |-> y]) @@ attrs, <<>>, text)

Image(x, y, width, height, href, attrs) ==
  SVGElem("image",
    "xlink:href" :> href @@ Texts([x |-> x, y |-> y, width |-> width, height |-> height]) @@ attrs, <<>>, "")

Group(children, attrs) == SVGElem("g", attrs, children, "")

Svg(children, attrs) == SVGElem("svg", attrs, children, "")

SVGDoc(children, x, y, width, height, attrs) ==
  Svg(children, attrs @@
    [xmlns |-> "http://www.w3.org/2000/svg",
     viewBox |-> ToString(x) \o " " \o ToString(y) \o " " \o ToString(width) \o " " \o ToString(height)])

(* The point of the line between two points that is one segment-th of the way. *)
PointOnLine(from, to, segment) ==
  [x |-> from.x + ((to.x - from.x) \div segment), y |-> from.y + ((to.y - from.y) \div segment)]

(* Where node n of m nodes on a ring with a centre and a radius is. *)
NodeOfRingNetwork(cx, cy, r, n, m) == TRUE
\* native

(* Where each of the nodes of a graph may stand: on a ring, apart from each     *)
(* other. The options view_width and view_height, if given, say how large the   *)
(* drawing is.                                                                  *)
NodesOfDirectedMultiGraph(nodes, edges, options) ==
  LET Option(name) == IF name \in DOMAIN options THEN options[name] ELSE 200
      w == Option("view_width")
      h == Option("view_height")
      r == (IF w < h THEN w ELSE h) \div 2
      Place[S \in SUBSET nodes] ==
        IF S = {} THEN <<>>
        ELSE LET n == CHOOSE n \in S : TRUE
             IN n :> NodeOfRingNetwork(w \div 2, h \div 2, r, Cardinality(S), Cardinality(nodes)) @@ Place[S \ {n}]
  IN Place[nodes]

SVGElemToString(elem) == TRUE
\* native

(* Writes the file whose name is the prefix, the number and ".svg". *)
SVGSerialize(svg, prefix, number) == TRUE
\* native
=============================================================================
