--------------------------------- MODULE CSV ---------------------------------
(* Adds a line to a file: the template with the values for %s or %1$s.        *)
CSVWrite(template, val, file) == TRUE
\* native

(* A sequence of records whose fields are the columns. *)
CSVRead(columns, delimiter, file) == TRUE
\* native

(* Adds a line with the values of a record, before it one with the names of its  *)
(* fields where headers says so.                                                *)
CSVWriteRecord(record, delimiter, headers, file) == TRUE
\* native

(* How many lines a file has, 0 where there is none. *)
CSVRecords(file) == TRUE
\* native
=============================================================================
