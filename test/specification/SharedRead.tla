----------------------------- MODULE SharedRead -----------------------------
(*
  A read lock of one process that its callers share: the rules that `handOff` keeps for read locks.

  1. One caller queues on the servers for all of the process. Those that come while its grant is open have that grant too, at most
     AtMost of them; then it is closed to others, and the next caller queues on the servers, behind those of other processes.
  2. The grant is released when the last of its callers has left, and is closed before that.
  3. It is closed once its token was asked for: callers that share a token have it from before.
  4. It is closed, and its callers have lost it, before the session or the lease ends on the servers (SessionBelief, KeptLease).

  The world. Process A has callers; W is a writer elsewhere. The servers grant in the order of arrival, readers beside each other.
  A release arrives after any time. Session or lease of A may end at any time.

  Mutants, and what refutes them:
    "join without bound": BoundedBypass
    "the first that leaves releases it": Exclusion
    "join after the last has left": Exclusion
    "join after the end of the session": Exclusion
    "join after its token was asked for": NoTokenTwice
    "the last one leaves without a release": NothingLeft
*)
EXTENDS Integers, Sequences

CONSTANTS Mutant, AtMost, MaxGrants, MaxCallers

W == 0
Grants == 1..MaxGrants

VARIABLES
  queue,    \* on the servers, in order: W, or the number of a request of A
  held,     \* those of A that the servers have granted
  writing,  \* whether W has the lock
  asked,    \* how many requests A has made
  waiting,  \* callers of A that have no grant
  callers,  \* of each grant, as A believes
  joins,    \* of each grant
  open,     \* the grant that callers may join; 0: none
  leaving,  \* grants whose release is under way
  shown,    \* grants whose token was asked for
  bypassed, \* how many callers of A came after W was queued, and went ahead of it
  twice     \* whether a caller joined a grant whose token somebody had

vars == <<queue, held, writing, asked, waiting, callers, joins, open, leaving, shown, bypassed, twice>>

Init ==
  /\ queue = <<>> /\ held = {} /\ writing = FALSE /\ asked = 0 /\ waiting = 0
  /\ callers = [g \in Grants |-> 0] /\ joins = [g \in Grants |-> 0] /\ open = 0
  /\ leaving = {} /\ shown = {} /\ bypassed = 0 /\ twice = FALSE

IsQueued(x) == \E i \in DOMAIN queue : queue[i] = x
IsAsking == \E g \in Grants : IsQueued(g)

(* The first of the callers that have no grant queues for them, unless one does already. *)
Ask(isWaiting) ==
  IF isWaiting /\ ~IsAsking /\ asked < MaxGrants
  THEN asked' = asked + 1 /\ queue' = Append(queue, asked + 1)
  ELSE UNCHANGED <<asked, queue>>

Call ==
  /\ waiting < MaxCallers
  /\ waiting' = waiting + 1
  /\ IF open = 0 THEN Ask(TRUE) ELSE UNCHANGED <<asked, queue>>
  /\ UNCHANGED <<held, writing, callers, joins, open, leaving, shown, bypassed, twice>>

QueueW ==
  /\ ~IsQueued(W) /\ ~writing
  /\ queue' = Append(queue, W) /\ bypassed' = 0
  /\ UNCHANGED <<held, writing, asked, waiting, callers, joins, open, leaving, shown, twice>>

GrantW ==
  /\ queue # <<>> /\ Head(queue) = W /\ held = {}
  /\ writing' = TRUE /\ queue' = Tail(queue)
  /\ UNCHANGED <<held, asked, waiting, callers, joins, open, leaving, shown, bypassed, twice>>

ReleaseW ==
  /\ writing /\ writing' = FALSE
  /\ UNCHANGED <<queue, held, asked, waiting, callers, joins, open, leaving, shown, bypassed, twice>>

Passed == IF IsQueued(W) THEN bypassed + 1 ELSE bypassed

(* That it has a caller who still waits is left out: one that has given up leaves at once, as in Leave. *)
Grant ==
  /\ queue # <<>> /\ Head(queue) # W /\ ~writing /\ waiting > 0
  /\ LET g == Head(queue) IN
     /\ held' = held \union {g} /\ queue' = Tail(queue)
     /\ callers' = [callers EXCEPT ![g] = 1] /\ open' = g
  /\ waiting' = waiting - 1 /\ bypassed' = Passed
  /\ UNCHANGED <<writing, asked, joins, leaving, shown, twice>>

Join ==
  /\ open # 0 /\ waiting > 0
  /\ joins[open] < AtMost \/ (Mutant = "join without bound" /\ joins[open] < AtMost + 2)
  /\ open \notin shown \/ Mutant = "join after its token was asked for"
  /\ waiting' = waiting - 1
  /\ callers' = [callers EXCEPT ![open] = @ + 1] /\ joins' = [joins EXCEPT ![open] = @ + 1]
  /\ twice' = (twice \/ open \in shown) /\ bypassed' = Passed
  /\ UNCHANGED <<queue, held, writing, asked, open, leaving, shown>>

(* Its bounds are reached, or there is doubt. *)
Close ==
  /\ open # 0 /\ open' = 0
  /\ Ask(waiting > 0)
  /\ UNCHANGED <<held, writing, waiting, callers, joins, leaving, shown, bypassed, twice>>

ClosedAt(g) == IF open = g THEN open' = 0 /\ Ask(waiting > 0) ELSE UNCHANGED <<open, asked, queue>>

Leave ==
  \E g \in Grants :
    /\ callers[g] > 0
    /\ callers' = [callers EXCEPT ![g] = @ - 1]
    /\ IF callers[g] = 1
       THEN /\ IF Mutant = "join after the last has left" THEN UNCHANGED <<open, asked, queue>> ELSE ClosedAt(g)
            /\ leaving' = IF Mutant = "the last one leaves without a release" /\ joins[g] > 0 THEN leaving ELSE leaving \union {g}
       ELSE /\ UNCHANGED <<open, asked, queue>>
            /\ leaving' = IF Mutant = "the first that leaves releases it" THEN leaving \union {g} ELSE leaving
    /\ UNCHANGED <<held, writing, waiting, joins, shown, bypassed, twice>>

Released ==
  \E g \in leaving :
    /\ leaving' = leaving \ {g} /\ held' = held \ {g}
    /\ UNCHANGED <<queue, writing, asked, waiting, callers, joins, open, shown, bypassed, twice>>

(* The session or the lease of that grant ends; A believes so no later. *)
End ==
  \E g \in held :
    /\ held' = held \ {g} /\ leaving' = leaving \ {g}
    /\ callers' = [callers EXCEPT ![g] = 0]
    /\ IF Mutant = "join after the end of the session" THEN UNCHANGED <<open, asked, queue>> ELSE ClosedAt(g)
    /\ UNCHANGED <<writing, waiting, joins, shown, bypassed, twice>>

Show ==
  \E g \in Grants :
    /\ callers[g] > 0 /\ shown' = shown \union {g}
    /\ UNCHANGED <<queue, held, writing, asked, waiting, callers, joins, open, leaving, bypassed, twice>>

Next == Call \/ QueueW \/ GrantW \/ ReleaseW \/ Grant \/ Join \/ Close \/ Leave \/ Released \/ End \/ Show

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

Exclusion == ~(writing /\ \E g \in Grants : callers[g] > 0)

(* A writer elsewhere is passed by the caller that queued before it, and by those that one grant may serve. *)
BoundedBypass == bypassed <= AtMost + 1

NoTokenTwice == ~twice

(* What the servers have granted has callers, or its release is under way. *)
NothingLeft == \A g \in held : callers[g] > 0 \/ g \in leaving
=============================================================================
