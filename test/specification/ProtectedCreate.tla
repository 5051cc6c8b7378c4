-------------------------- MODULE ProtectedCreate --------------------------
(*
  One node that a client creates, perhaps without hearing the answer, and later removes.

  Implemented by lib/zookeeper/nodes/protected-node.ts and guaranteed-delete.ts: the name of the node has an id of its own. A create
  without an answer is looked for by that id, on a link that has been in `sync`; it is sent again only if it is not there.

  The world. The leader decides on creates and deletions in one order. The client reads at a server that may lag behind the leader.
  A link may break at any time; what was sent on it may still be carried out until the client has attached elsewhere, after
  which the leader refuses it (SESSIONMOVED). Busy servers refuse requests, which are not carried out then. A session ends for the
  client before it ends on the servers: see SessionBelief.tla.

  Mutants, and what refutes them:
    "create again without looking": AtMostOneNode
    "look at a server that lags": AtMostOneNode
    "take the node of an older session": TakenInThisSession
    "remove only what was answered": NothingLeft
    "a refused deletion is the last": NothingLeft
*)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Mutant, Faults

VARIABLES
  history,  \* the nodes with this id after each transaction: sets of [copy, session]
  seen,     \* how far the server of the client has got in it
  expired,  \* sessions that have ended on the servers
  session,  \* that of the client
  link,     \* whether it is connected
  sent,     \* the request at the server that it is connected to: "none", "create", or "delete"
  carried,  \* whether that has been carried out
  left,     \* a request that was left behind on a broken link
  phase,    \* what the client does with this node
  certain,  \* whether it knows what has become of its last create
  path,     \* the copy that it knows of; 0: none
  origin,   \* the session in which it was created
  faults    \* how many there have been

vars == <<history, seen, expired, session, link, sent, carried, left, phase, certain, path, origin, faults>>

Nodes == history[Len(history)]
Shown == history[seen]
Copies == {n.copy : n \in UNION {history[i] : i \in DOMAIN history}}
MayExist == origin = session /\ (path # 0 \/ ~certain)

Init ==
  /\ history = <<{}>> /\ seen = 1 /\ expired = {} /\ session = 1 /\ link = TRUE
  /\ sent = "none" /\ carried = FALSE /\ left = "none"
  /\ phase = "new" /\ certain = TRUE /\ path = 0 /\ origin = 1 /\ faults = 0

-----------------------------------------------------------------------------
(* The servers *)

CarryOut(request) ==
  history' = IF origin \in expired THEN history
             ELSE Append(history, IF request = "create"
               THEN Nodes \union {[copy |-> Cardinality(Copies) + 1, session |-> origin]}
               ELSE {n \in Nodes : n.copy # path})

CarryOutSent ==
  /\ sent # "none" /\ ~carried
  /\ CarryOut(sent) /\ carried' = TRUE
  /\ UNCHANGED <<seen, expired, session, link, sent, left, phase, certain, path, origin, faults>>

CarryOutLeft ==
  /\ left # "none"
  /\ CarryOut(left) /\ left' = "none"
  /\ UNCHANGED <<seen, expired, session, link, sent, carried, phase, certain, path, origin, faults>>

CatchUp ==
  /\ seen < Len(history)
  /\ seen' = seen + 1
  /\ UNCHANGED <<history, expired, session, link, sent, carried, left, phase, certain, path, origin, faults>>

Expire ==
  /\ session = 2 /\ expired = {}
  /\ expired' = {1} /\ left' = "none"
  /\ history' = Append(history, {n \in Nodes : n.session # 1})
  /\ UNCHANGED <<seen, session, link, sent, carried, phase, certain, path, origin, faults>>

-----------------------------------------------------------------------------
(* Faults *)

Cut ==
  /\ link /\ faults < Faults
  /\ faults' = faults + 1 /\ link' = FALSE
  /\ left' = IF sent # "none" /\ ~carried THEN sent ELSE "none"
  /\ sent' = "none" /\ carried' = FALSE
  /\ UNCHANGED <<history, seen, expired, session, phase, certain, path, origin>>

Refuse ==
  /\ sent # "none" /\ ~carried /\ faults < Faults
  /\ faults' = faults + 1 /\ sent' = "none"
  /\ certain' = IF sent = "create" THEN TRUE ELSE certain
  /\ phase' = IF sent = "delete" /\ Mutant = "a refused deletion is the last" THEN "removed" ELSE phase
  /\ UNCHANGED <<history, seen, expired, session, link, carried, left, path, origin>>

Attach ==
  /\ ~link
  /\ link' = TRUE /\ left' = "none"
  /\ IF Mutant = "look at a server that lags" THEN seen' \in DOMAIN history ELSE seen' = Len(history)
  /\ UNCHANGED <<history, expired, session, sent, carried, phase, certain, path, origin, faults>>

(* The client gives its session up; what it has sent may be carried out until the servers do so too. *)
EndSession ==
  /\ ~link /\ session = 1
  /\ session' = 2
  /\ phase' = CASE Mutant = "take the node of an older session" -> phase
                [] phase = "taken" -> "lost"
                [] OTHER -> "over"
  /\ UNCHANGED <<history, seen, expired, link, sent, carried, left, certain, path, origin, faults>>

-----------------------------------------------------------------------------
(* The client *)

Send(request) == sent' = request /\ carried' = FALSE

Create ==
  /\ phase = "new" /\ link /\ sent = "none" /\ path = 0
  /\ certain \/ Mutant = "create again without looking"
  /\ Send("create") /\ certain' = FALSE
  /\ origin' = IF Mutant = "take the node of an older session" THEN origin ELSE session
  /\ UNCHANGED <<history, seen, expired, session, link, left, phase, path, faults>>

Answer ==
  /\ carried
  /\ seen' = Len(history) /\ sent' = "none" /\ carried' = FALSE
  /\ IF sent = "create"
     THEN /\ certain' = TRUE /\ phase' = phase
          /\ path' = IF origin \in expired THEN 0 ELSE Cardinality(Copies)
     ELSE phase' = "removed" /\ UNCHANGED <<certain, path>>
  /\ UNCHANGED <<history, expired, session, link, left, origin, faults>>

(* Finds the node by its id; the answers of one link come in order, so not while a create is under way. *)
Locate ==
  /\ phase \in {"new", "removing"} /\ ~certain /\ path = 0 /\ link /\ sent = "none"
  /\ ~(phase = "removing" /\ Mutant = "remove only what was answered")
  /\ certain' = TRUE
  /\ path' = IF Shown = {} THEN 0 ELSE (CHOOSE n \in Shown : TRUE).copy
  /\ UNCHANGED <<history, seen, expired, session, link, sent, carried, left, phase, origin, faults>>

Take ==
  /\ phase = "new" /\ path # 0 /\ link
  /\ phase' = "taken"
  /\ UNCHANGED <<history, seen, expired, session, link, sent, carried, left, certain, path, origin, faults>>

(* It releases the lock, or gives the wait up, even while the create is under way. *)
Leave ==
  /\ phase \in {"new", "taken"}
  /\ phase' = IF MayExist THEN "removing" ELSE "over"
  /\ UNCHANGED <<history, seen, expired, session, link, sent, carried, left, certain, path, origin, faults>>

Delete ==
  /\ phase = "removing" /\ link /\ sent = "none"
  /\ IF path # 0 THEN Send("delete") /\ UNCHANGED phase
     ELSE /\ certain \/ Mutant = "remove only what was answered"
          /\ phase' = "removed" /\ UNCHANGED <<sent, carried>>
  /\ UNCHANGED <<history, seen, expired, session, link, left, certain, path, origin, faults>>

Next == CarryOutSent \/ CarryOutLeft \/ CatchUp \/ Expire \/ Cut \/ Refuse \/ Attach \/ EndSession
        \/ Create \/ Answer \/ Locate \/ Take \/ Leave \/ Delete

Spec == Init /\ [][Next]_vars /\ WF_vars(CarryOutSent \/ Answer) /\ WF_vars(Attach) /\ WF_vars(Locate) /\ WF_vars(Delete)

-----------------------------------------------------------------------------

AtMostOneNode == Cardinality(Copies) <= 1

TakenInThisSession == phase = "taken" => \A n \in Nodes : n.copy = path => n.session = session

(* A removal that is done leaves neither a node nor a create that may still be carried out. *)
NothingLeft == phase = "removed" => Nodes = {} /\ left # "create"

(* It does not take for ever: no node is left unless its session ends. *)
RemovalEnds == (phase = "removing") ~> (phase \in {"removed", "over"})
=============================================================================
