-------------------------------- MODULE HTML ---------------------------------
(* Pages that show states: texts of HTML, of style sheets and of scripts.      *)
LOCAL INSTANCE Sequences
LOCAL INSTANCE SequencesExt

(* string, in which for each pair of args its first has given way to its second, *)
(* once.                                                                         *)
StringFill(string, args) ==
  FoldLeft(LAMBDA text, pair : ReplaceFirstSubSeq(pair[2], pair[1], text), string, args)

(* The strings one after the other, with separator between them. What is empty  *)
(* at the beginning is left out.                                                *)
StringSeqToString(strings, separator) ==
  FoldLeft(LAMBDA text, s : IF text = "" THEN s ELSE text \o separator \o s, "", strings)

LOCAL Lines(strings) == StringSeqToString(strings, "\n")

LOCAL Words(strings) == StringSeqToString(strings, " ")

LOCAL Attr(name, value) == " " \o name \o "=\"" \o value \o "\""

LOCAL Open(tag, attributes) == "<" \o tag \o attributes \o ">"

(* What stands between the tags is a sequence of lines. *)
LOCAL Element(tag, attributes, inner) == Lines(<<Open(tag, attributes), Lines(inner), "</" \o tag \o ">">>)

HTMLDocument(header, body, scripts) ==
  Lines(<<"<!DOCTYPE html>", "<html>", header, body, Lines(scripts), "</html>">>)

(* Style *)

HTMLAttribute(name, value) == name \o ": " \o value \o ";"

HTMLClass(class, attributes) == Lines(<<class \o " {", Lines(attributes), "}">>)

HTMLDefaultStyle ==
  Lines(<<HTMLClass(".default_grid", <<HTMLAttribute("display", "grid")>>),
          HTMLClass(".default_box", <<HTMLAttribute("border", "1px solid black")>>),
          HTMLClass(".default_circle", <<HTMLAttribute("border-radius", "50%")>>)>>)

HTMLStyleSheet(classes) == Element("style", Attr("type", "text/css"), <<HTMLDefaultStyle, Lines(classes)>>)

HTMLSize(width, height) == Words(<<HTMLAttribute("width", width), HTMLAttribute("height", height)>>)

HTMLFlexCenterAttributes ==
  Lines(<<HTMLAttribute("display", "flex"), HTMLAttribute("align-items", "center"),
          HTMLAttribute("justify-content", "center")>>)

(* Head and scripts *)

HTMLScriptFile(name) == Open("script", Attr("src", name)) \o "</script>"

HTMLScript(children) == Element("script", "", children)

HTMLLink(name, type) == "<link" \o Attr("href", name) \o Attr("rel", type) \o "/>"

HTMLHeader(title, links, classes) ==
  Element("head", "",
    <<Open("meta", Attr("charset", "UTF-8")), "<title>" \o title \o "</title>", Lines(links), HTMLStyleSheet(classes)>>)

(* Body *)

HTMLBody(body) == Element("body", "", <<body>>)

HTMLFrame(id, children) == Element("div", Attr("id", id), children)

LOCAL Classes(first, others) == Attr("class", first \o " " \o Words(others))

HTMLGridContainer(id, classes, children) == Element("div", Attr("id", id) \o Classes("default_grid", classes), children)

HTMLBox(id, classes, size, children) ==
  Element("div", Attr("id", id) \o Classes("default_box", classes) \o Attr("style", size), children)

HTMLCircle(id, classes, size, children) == HTMLBox(id, <<"default_circle">> \o classes, size, children)

HTMLText(id, text) == Element("span", Attr("id", id), <<text>>)

HTMLSVG(id, viewBox, size, svgString) ==
  Element("svg", Attr("id", id) \o Attr("viewBox", viewBox) \o Attr("style", size), <<svgString>>)

HTMLNewLine == "<br>"

(* Lines between elements, by the script LeaderLine, and keys *)

LOCAL ById(id) == "document.getElementById(\"" \o id \o "\")"

HTMLJSLineElems(from, to) == ById(from) \o ", " \o ById(to)

LOCAL LeaderLine(from, to, color, size, more) ==
  "new LeaderLine(" \o HTMLJSLineElems(from, to) \o ", {color: '" \o color \o "', size: " \o size \o more \o "})"

HTMLJSLine(from, to, color, size) == LeaderLine(from, to, color, size, "")

HTMLJSLineDash(from, to, color, size) == LeaderLine(from, to, color, size, ", dash: true")

HTMLJSKeyListener(events) ==
  Lines(<<"window.onkeyup = function(event) {", "let key = event.key.toUpperCase();", Lines(events), "}">>)

HTMLJSNavigationKey(key, file) ==
  Lines(<<"if(key == '" \o key \o "'){", "window.location.replace(\"" \o file \o "\");", "}">>)
=============================================================================
