--------------------------------- MODULE CSV ---------------------------------
(* Adds a line to a file: the template with the values for %s or %1$s.        *)
CSVWrite(template, val, file) == TRUE
\* native

(* A sequence of records whose fields are the columns. *)
CSVRead(columns, delimiter, file) == TRUE
\* native

CSVRecords(file) == TRUE
\* native
=============================================================================
