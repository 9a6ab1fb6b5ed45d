--------------------------------- MODULE SVG ---------------------------------
(* Drawings of states. An element is a record of a name, attributes, children *)
(* and text; attributes are a function from names, in which an underscore     *)
(* stands for a hyphen.                                                       *)
LOCAL INSTANCE Integers
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLC

SVGElem(name, attrs, children, innerText) ==
  [name |-> name, attrs |-> attrs, children |-> children, innerText |-> innerText]

Line(x1, y1, x2, y2, attrs) ==
  SVGElem("line", attrs @@ [x1 |-> x1, y1 |-> y1, x2 |-> x2, y2 |-> y2], <<>>, "")

Circle(cx, cy, r, attrs) ==
  SVGElem("circle", attrs @@ [cx |-> cx, cy |-> cy, r |-> r], <<>>, "")

Rect(x, y, w, h, attrs) ==
  SVGElem("rect", attrs @@ [x |-> x, y |-> y, width |-> w, height |-> h], <<>>, "")

Text(x, y, text, attrs) ==
  SVGElem("text", attrs @@ [x |-> x, y |-> y], <<>>, text)

Image(x, y, width, height, href, attrs) ==
  SVGElem("image", attrs @@ [x |-> x, y |-> y, width |-> width, height |-> height, href |-> href], <<>>, "")

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

SVGElemToString(elem) == TRUE
\* native

(* Writes the file whose name is the prefix, the number and ".svg". *)
SVGSerialize(svg, prefix, number) == TRUE
\* native
=============================================================================
