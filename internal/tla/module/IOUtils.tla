------------------------------- MODULE IOUtils -------------------------------
(* Files and commands. The results of commands are records with the fields    *)
(* exitValue, stdout and stderr.                                              *)

IOSerialize(val, file, compress) == TRUE
\* native

IODeserialize(file, compressed) == TRUE
\* native

(* Writes text; options is a record, openOptions a sequence of strings in it. *)
Serialize(val, file, options) == TRUE
\* native

Deserialize(file, options) == TRUE
\* native

IOExec(command) == TRUE
\* native

IOEnvExec(env, command) == TRUE
\* native

(* Commands whose words hold %s or %1$s for the parameters. *)
IOExecTemplate(command, parameters) == TRUE
\* native

IOEnvExecTemplate(env, command, parameters) == TRUE
\* native

(* The variables of the environment, a record of strings. *)
IOEnv == TRUE
\* native

atoi(s) == TRUE
\* native

zeroPadN(val, n) == TRUE
\* native
=============================================================================
