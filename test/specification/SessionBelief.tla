--------------------------- MODULE SessionBelief ---------------------------
(*
  How long a client may believe in its session, under a leader that expires it and servers that answer although they are cut off.

  Implemented by lib/zookeeper/connection/session.ts, and session-links.ts for what attaches to another server. What the leader
  answers (a `sync`) proves that it knows of all that the server had answered one tick before the `sync` was sent: the session lives
  for its timeout from when the latest of that was sent. After another server was attached to, the smaller timeout counts.

  The world. A server notes each request as a touch of the session, answers reads by itself, and passes touches on to the leader more
  often than once per tick (when it answers the leader's ping), in one stream with each `sync` that it forwards. Messages take
  any time. The server may be cut off from the leader for good at any time; then nothing of it arrives any more. The leader expires a
  session one timeout after the last touch that has arrived; a touch comes with the timeout that the server at which it was made
  has granted. The answer to an attach is not lost: the docs list that case, and a leader that was deposed and does not know it. At the
  second server it would all begin anew, so the world ends some time after it was attached to.
  Clocks run equally fast (the code takes 5 % off).

  Mutants, and what refutes them:
    "an answered read proves that the session lives": Belief
    "an answered sync proves that the session lives": Belief
    "the leader knows at once what a server has answered": Belief
    "a session lives from the answer on": Belief
    "a smaller timeout is ignored": Belief
*)
EXTENDS Integers, Sequences

CONSTANTS Mutant, MaxTime, MaxRequests, TickTime, Timeout1, Timeout2

VARIABLES
  now,
  expires,   \* when the session expires at the leader
  expired,
  cut,       \* whether the server is cut off from the leader
  noted,     \* when it has noted the first touch that it has not passed on; -1: there is none
  stream,    \* what it has sent to the leader: 0 for touches, the number of a request for its sync
  link,      \* of the client: "first" server, "none", "second" server
  asked,     \* when it has asked the second one
  requests,  \* to the first one
  touches,   \* those that were answered
  timeout,   \* that the client counts with
  safe       \* until when it believes in its session

vars == <<now, expires, expired, cut, noted, stream, link, asked, requests, touches, timeout, safe>>

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Latest(times) == CHOOSE t \in times : \A other \in times : other <= t

Init ==
  /\ now = 0 /\ expires = Timeout1 /\ expired = FALSE
  /\ cut = FALSE /\ noted = -1 /\ stream = <<>>
  /\ link = "first" /\ asked = 0 /\ requests = <<>> /\ touches = {} /\ timeout = Timeout1 /\ safe = Timeout1

Tick ==
  /\ now < MaxTime
  /\ noted < 0 \/ now + 1 < noted + TickTime
  /\ now' = now + 1 /\ expired' = (expired \/ now' >= expires)
  /\ UNCHANGED <<expires, cut, noted, stream, link, asked, requests, touches, timeout, safe>>

-----------------------------------------------------------------------------
(* The first server, and the leader. What is sent on one link arrives, and is answered, in order. *)

Receive(i) ==
  /\ i <= Len(requests) /\ requests[i].stage = "sent"
  /\ \A earlier \in 1..(i - 1) : requests[earlier].stage # "sent"
  /\ noted' = IF noted < 0 /\ ~cut THEN now ELSE noted
  /\ requests' = [requests EXCEPT ![i].stage = IF requests[i].kind = "read" THEN "done" ELSE "received"]
  /\ stream' = IF requests[i].kind = "read" \/ cut THEN stream ELSE Append(stream, i)
  /\ UNCHANGED <<now, expires, expired, cut, link, asked, touches, timeout, safe>>

PassOn ==
  /\ noted >= 0
  /\ noted' = -1 /\ stream' = Append(stream, 0)
  /\ UNCHANGED <<now, expires, expired, cut, link, asked, requests, touches, timeout, safe>>

Arrive ==
  /\ stream # <<>>
  /\ stream' = Tail(stream)
  /\ LET message == Head(stream) IN
     /\ expires' = IF message = 0 /\ ~expired THEN now + Timeout1 ELSE expires
     /\ requests' = IF message \in DOMAIN requests THEN [requests EXCEPT ![message].stage = "done"] ELSE requests
  /\ UNCHANGED <<now, expired, cut, noted, link, asked, touches, timeout, safe>>

CutOff ==
  /\ ~cut
  /\ cut' = TRUE /\ stream' = <<>> /\ noted' = -1
  /\ UNCHANGED <<now, expires, expired, link, asked, requests, touches, timeout, safe>>

-----------------------------------------------------------------------------
(* The client *)

Send(kind) ==
  /\ link = "first" /\ Len(requests) < MaxRequests
  /\ requests' = Append(requests, [kind |-> kind, at |-> now, stage |-> "sent"])
  /\ UNCHANGED <<now, expires, expired, cut, noted, stream, link, asked, touches, timeout, safe>>

(* Until when an answer has proved that the session lives. *)
Proved(r) ==
  LET lag == IF Mutant = "the leader knows at once what a server has answered" THEN 0 ELSE TickTime
      known == {t \in touches : t.answered <= r.at - lag}
      from == {IF Mutant = "a session lives from the answer on" THEN t.answered ELSE t.at : t \in known}
  IN CASE Mutant = "an answered read proves that the session lives" -> r.at + timeout
       [] Mutant = "an answered sync proves that the session lives" /\ r.kind = "sync" -> r.at + timeout
       [] r.kind = "sync" /\ known # {} -> Latest(from) + timeout
       [] OTHER -> 0

Answer(i) ==
  /\ i <= Len(requests) /\ requests[i].stage = "done"
  /\ \A earlier \in 1..(i - 1) : requests[earlier].stage = "answered"
  /\ requests' = [requests EXCEPT ![i] = [kind |-> "none", at |-> 0, stage |-> "answered"]]
  /\ touches' = touches \union {[at |-> requests[i].at, answered |-> now]}
  /\ safe' = Max(safe, Proved(requests[i]))
  /\ UNCHANGED <<now, expires, expired, cut, noted, stream, link, asked, timeout>>

(* Its link breaks, and it asks the other server; what was under way on the link is not answered any more. *)
Reconnect ==
  /\ link = "first"
  /\ link' = "none" /\ asked' = now /\ requests' = <<>>
  /\ UNCHANGED <<now, expires, expired, cut, noted, stream, touches, timeout, safe>>

Attach ==
  /\ link = "none" /\ ~expired
  /\ link' = "second" /\ expires' = now + Timeout2
  /\ timeout' = IF Mutant = "a smaller timeout is ignored" THEN timeout ELSE Min(timeout, Timeout2)
  /\ safe' = asked + timeout'
  /\ UNCHANGED <<now, expired, cut, noted, stream, asked, requests, touches>>

Next ==
  \/ Tick \/ PassOn \/ Arrive \/ CutOff \/ Reconnect \/ Attach
  \/ \E i \in 1..MaxRequests : Receive(i)
  \/ \E i \in 1..MaxRequests : Answer(i)
  \/ \E kind \in {"read", "sync"} : Send(kind)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

Believes == now < safe

(* A client that believes in its session is not mistaken: the leader has not given its locks to others. *)
Belief == Believes => ~expired
=============================================================================
