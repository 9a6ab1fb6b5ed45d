------------------------------- MODULE Toolbox -------------------------------
(* The behaviour that is looked at, and the place in it.                       *)
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLCExt

_TETrace == Trace

_TEPosition == Len(Trace)
=============================================================================
