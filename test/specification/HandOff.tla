------------------------------ MODULE HandOff ------------------------------
(*
  A hold of one process that goes from caller to caller inside of it before others get the lock: the rules that `handOff` keeps. The
  code takes no blocks of tokens: it hands on no hold whose token was asked for, so each token is that of one caller.

  1. A hold is handed on at most AtMost times, and then released; callers who are left queue on the servers again, behind the others.
  2. The grant takes a block of tokens, one for each caller that it may serve. Each caller gets the next; the block is never exceeded.
  3. While a guarded write of the present caller is under way, the hold is not handed on, but released: a write carries the id of the
     hold, and the server refuses it once that is gone.
  4. Nothing is handed on once the session or the lease may have ended.

  The world. Process A has callers; F stands for all others, in any language: it takes one token for each grant. The servers grant
  in the order of arrival. Session or lease of A may end at any time; A believes so no later (SessionBelief, KeptLease). A guarded
  write arrives after any time, or never. That of a lock which is not fair is bounded by time in the same way, which is not here.

  Mutants, and what refutes them:
    "hand on without bound": BoundedBypass
    "one token for all callers of a hold": TokensGrow
    "a block for one caller": TokensGrow
    "hand on while a guarded write is under way": NoLateWrite
    "hand on after the end of the session": Exclusion
*)
EXTENDS Integers, Sequences

CONSTANTS Mutant, AtMost, MaxGrants, MaxCallers

VARIABLES
  queue,    \* on the servers, in order: "A" or "F"
  holder,   \* on the servers: "none", "A" or "F"
  hold,     \* number of the hold: its id on the servers
  counter,  \* the last token that was taken on the servers
  mine,     \* the hold of A, as A believes; 0: none
  first,    \* the first token of its block
  hops,     \* how often it was handed on
  callers,  \* of A, that wait in the process
  token,    \* the last one that any caller got
  grows,    \* whether every token was greater than all before
  bypassed, \* how many callers of A came after F was queued, and went ahead of it
  writes,   \* guarded writes under way: [hold, token]
  late      \* whether a write was carried out after a later grant

vars == <<queue, holder, hold, counter, mine, first, hops, callers, token, grows, bypassed, writes, late>>

Init ==
  /\ queue = <<>> /\ holder = "none" /\ hold = 0 /\ counter = 0 /\ mine = 0 /\ first = 0 /\ hops = 0 /\ callers = 0
  /\ token = 0 /\ grows = TRUE /\ bypassed = 0 /\ writes = {} /\ late = FALSE

IsQueued(who) == \E i \in DOMAIN queue : queue[i] = who
Block == IF Mutant = "a block for one caller" THEN 1 ELSE AtMost + 1
Got(next) == token' = next /\ grows' = (grows /\ next > token)

(* A caller of A comes; the process queues once for all of them. *)
Call ==
  /\ callers < MaxCallers
  /\ callers' = callers + 1
  /\ queue' = IF mine = 0 /\ ~IsQueued("A") THEN Append(queue, "A") ELSE queue
  /\ UNCHANGED <<holder, hold, counter, mine, first, hops, token, grows, bypassed, writes, late>>

QueueF ==
  /\ ~IsQueued("F")
  /\ queue' = Append(queue, "F") /\ bypassed' = 0
  /\ UNCHANGED <<holder, hold, counter, mine, first, hops, callers, token, grows, writes, late>>

Grant ==
  /\ holder = "none" /\ queue # <<>> /\ hold < MaxGrants
  /\ holder' = Head(queue) /\ queue' = Tail(queue) /\ hold' = hold + 1
  /\ Got(counter + 1)
  /\ IF Head(queue) = "A"
     THEN /\ mine' = hold + 1 /\ first' = counter + 1 /\ hops' = 0 /\ callers' = callers - 1 /\ counter' = counter + Block
          /\ bypassed' = bypassed
     ELSE counter' = counter + 1 /\ UNCHANGED <<mine, first, hops, callers, bypassed>>
  /\ UNCHANGED <<writes, late>>

HandOn ==
  /\ mine # 0 /\ callers > 0
  /\ hops < AtMost \/ (Mutant = "hand on without bound" /\ hops < AtMost + 2)
  /\ (\A w \in writes : w.hold # mine) \/ Mutant = "hand on while a guarded write is under way"
  /\ callers' = callers - 1 /\ hops' = hops + 1
  /\ Got(IF Mutant = "one token for all callers of a hold" THEN first ELSE first + hops + 1)
  /\ bypassed' = IF IsQueued("F") THEN bypassed + 1 ELSE bypassed
  /\ UNCHANGED <<queue, holder, hold, counter, mine, first, writes, late>>

Release ==
  /\ mine # 0
  /\ mine' = 0 /\ holder' = IF holder = "A" /\ hold = mine THEN "none" ELSE holder
  /\ queue' = IF callers > 0 THEN Append(queue, "A") ELSE queue
  /\ UNCHANGED <<hold, counter, first, hops, callers, token, grows, bypassed, writes, late>>

ReleaseF ==
  /\ holder = "F" /\ holder' = "none"
  /\ UNCHANGED <<queue, hold, counter, mine, first, hops, callers, token, grows, bypassed, writes, late>>

(* The session or the lease of A ends, or A has crashed. *)
End ==
  /\ holder = "A" /\ holder' = "none"
  /\ IF Mutant = "hand on after the end of the session" THEN UNCHANGED <<mine, queue>>
     ELSE mine' = 0 /\ queue' = IF callers > 0 THEN Append(queue, "A") ELSE queue
  /\ UNCHANGED <<hold, counter, first, hops, callers, token, grows, bypassed, writes, late>>

Write ==
  /\ mine # 0
  /\ writes' = writes \union {[hold |-> mine, token |-> token]}
  /\ UNCHANGED <<queue, holder, hold, counter, mine, first, hops, callers, token, grows, bypassed, late>>

Arrive ==
  \E w \in writes :
    /\ writes' = writes \ {w}
    /\ late' = (late \/ (holder = "A" /\ w.hold = hold /\ w.token < token))
    /\ UNCHANGED <<queue, holder, hold, counter, mine, first, hops, callers, token, grows, bypassed>>

Next == Call \/ QueueF \/ Grant \/ HandOn \/ Release \/ ReleaseF \/ End \/ Write \/ Arrive

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

Exclusion == ~(mine # 0 /\ holder = "F")

(* Who waits elsewhere is passed by no more callers than one hold may serve. *)
BoundedBypass == bypassed <= AtMost

TokensGrow == grows

(* No guarded write is carried out once a later caller, here or elsewhere, has the lock. *)
NoLateWrite == ~late
=============================================================================
