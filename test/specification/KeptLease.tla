----------------------------- MODULE KeptLease -----------------------------
(*
  One hold of a lock on Redis, from its acquire to its release, while the network delivers any of its commands again, however late.

  Implemented by lib/redis/locks/redis-hold.ts and redis-grant.ts, and by lib/redis/scripts/locks/lock-acquire.lua, lock-renew.lua
  and lock-release.lua. The client trusts a lease from when it sent the command, and one that it shortens from then on, answered or
  not; an answer counts only for the last extension. On the server acquires and renewals only make a lease longer. An extension sets
  it, by a number that grows, which renewals carry too: what is older than the last number seen changes nothing. A release leaves a
  tombstone.

  The world. Each command that was sent is carried out any number of times, in any order, as long as the world lasts, and answered
  once, as of any of the times before. The server keeps what it was given, and the clocks run equally fast (the code takes 1 % and
  2 ms off). Other clients, here B, take the lock as soon as the server lets them.

  Mutants, and what refutes them:
    "a renewal sets the lease": Exclusion
    "a copy of the acquire sets the lease": Exclusion
    "an older extension counts": Exclusion
    "a renewal does not note its number": Exclusion
    "a lease counts from its answer": Exclusion
    "an extension counts when it is answered": Exclusion
    "an older answer counts": Exclusion
    "no tombstone": NoGhost
*)
EXTENDS Integers, Sequences

CONSTANTS Mutant, MaxTime, MaxRequests, Leases

VARIABLES
  now,
  server,     \* the lock: its owner, when its lease ends, the last number seen
  tombstone,
  requests,   \* all that A has sent
  phase,      \* of A
  deadline,   \* until when A trusts its lease
  lease,      \* what A has asked for last
  extension   \* number of the last extension

vars == <<now, server, tombstone, requests, phase, deadline, lease, extension>>
client == <<phase, deadline, lease, extension>>

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

Nothing == [owner |-> "none", ends |-> 0, number |-> 0]
Owner == server.owner
Believes == phase = "held" /\ now < deadline

Init ==
  /\ now = 0 /\ server = Nothing /\ tombstone = FALSE /\ requests = <<>>
  /\ phase = "new" /\ deadline = 0 /\ lease = 0 /\ extension = 0

Become(next) == phase' = next /\ deadline' = 0 /\ lease' = 0 /\ extension' = 0

Tick ==
  /\ now < MaxTime
  /\ now' = now + 1
  /\ IF phase = "held" /\ now' >= deadline THEN Become("lost") ELSE UNCHANGED client
  /\ server' = IF now' < server.ends THEN server ELSE Nothing
  /\ UNCHANGED <<tombstone, requests>>

-----------------------------------------------------------------------------
(* The client *)

Send(kind, ms, number) ==
  /\ Len(requests) < MaxRequests
  /\ requests' = Append(requests,
       [kind |-> kind, lease |-> ms, number |-> number, at |-> now, reply |-> "none", answered |-> FALSE])
  /\ UNCHANGED <<now, server, tombstone>>

Acquire(ms) ==
  /\ phase = "new" /\ phase' = "waiting" /\ lease' = ms
  /\ Send("acquire", ms, 0)
  /\ UNCHANGED <<deadline, extension>>

Renew ==
  /\ Believes
  /\ Send("renew", lease, extension)
  /\ UNCHANGED client

Extend(ms) ==
  /\ Believes
  /\ Send("extend", ms, extension + 1)
  /\ lease' = ms /\ extension' = extension + 1
  /\ deadline' = IF Mutant = "an extension counts when it is answered" THEN deadline ELSE Min(deadline, now + ms)
  /\ UNCHANGED phase

(* It releases the lock, or gives its wait up. *)
Release ==
  /\ phase \in {"waiting", "held"}
  /\ Become("releasing")
  /\ Send("release", 0, 0)

(* What the client makes of the answer that the lease was set by `r`. Where this compares numbers, the code compares times. *)
Confirm(r) ==
  LET from == IF Mutant = "a lease counts from its answer" THEN now ELSE r.at
      until == Max(deadline, from + r.lease)
  IN CASE r.number # extension /\ Mutant # "an older answer counts" -> UNCHANGED client
       [] now >= until -> Become("lost")
       [] OTHER -> phase' = "held" /\ deadline' = until /\ UNCHANGED <<lease, extension>>

Answer(i) ==
  LET r == requests[i] IN
  /\ i <= Len(requests) /\ r.reply # "none"
  /\ requests' = [requests EXCEPT ![i].answered = TRUE, ![i].reply = "none", ![i].at = 0] \* they do not matter any more
  /\ UNCHANGED <<now, server, tombstone>>
  /\ CASE r.kind = "release" -> Become("released")
       [] r.reply = "held" /\ (phase = "held" \/ phase = "waiting") -> Confirm(r)
       [] r.reply = "gone" /\ phase = "held" -> Become("lost")
       [] OTHER -> UNCHANGED client

-----------------------------------------------------------------------------
(* The server *)

Set(ms, number) == [owner |-> "A", ends |-> now + ms, number |-> number]
Raise(ms, number) == [server EXCEPT !.ends = Max(@, now + ms), !.number = number]

AfterAcquire(r) ==
  CASE Owner = "A" /\ Mutant = "a copy of the acquire sets the lease" -> Set(r.lease, server.number)
    [] Owner = "A" /\ Mutant # "a copy of the acquire sets the lease" -> Raise(r.lease, server.number)
    [] Owner = "none" /\ ~tombstone -> Set(r.lease, 0)
    [] OTHER -> server

AfterRenewal(r) ==
  LET noted == IF Mutant = "a renewal does not note its number" THEN server.number ELSE r.number
  IN CASE Owner # "A" -> server
       [] r.kind = "extend" /\ (r.number > server.number \/ Mutant = "an older extension counts") -> Set(r.lease, r.number)
       [] r.kind = "renew" /\ Mutant = "a renewal sets the lease" -> Set(r.lease, server.number)
       [] r.kind = "renew" /\ r.number >= server.number /\ Mutant # "a renewal sets the lease" -> Raise(r.lease, noted)
       [] OTHER -> server

CarryOut(i) ==
  LET r == requests[i]
      isBusy == r.kind = "acquire" /\ Owner = "B" \* it asks again
      reply == IF r.kind = "release" \/ server'.owner = "A" THEN "held" ELSE "gone"
  IN
  /\ i <= Len(requests)
  /\ server' = CASE r.kind = "acquire" -> AfterAcquire(r)
                 [] r.kind = "release" /\ Owner = "A" -> Nothing
                 [] r.kind \in {"renew", "extend"} -> AfterRenewal(r)
                 [] OTHER -> server
  /\ tombstone' = (tombstone \/ (r.kind = "release" /\ Mutant # "no tombstone"))
  /\ requests' = IF r.answered \/ isBusy THEN requests ELSE [requests EXCEPT ![i].reply = reply]
  /\ UNCHANGED <<now, client>>

TakeB ==
  /\ Owner = "none"
  /\ \E ms \in Leases : server' = [owner |-> "B", ends |-> now + ms, number |-> 0]
  /\ UNCHANGED <<now, tombstone, requests, client>>

Next ==
  \/ Tick \/ Renew \/ Release \/ TakeB
  \/ \E ms \in Leases : Acquire(ms)
  \/ \E ms \in Leases : Extend(ms)
  \/ \E i \in 1..MaxRequests : CarryOut(i)
  \/ \E i \in 1..MaxRequests : Answer(i)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

(* While A takes itself for the holder, the server takes it for the holder too: so there is no other one. *)
Exclusion == Believes => Owner = "A"

(* After an answered release no copy takes the lock, which would stand there without a holder. *)
NoGhost == phase = "released" => Owner # "A"
=============================================================================
