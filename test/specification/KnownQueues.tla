---------------------------- MODULE KnownQueues ----------------------------
(*
  The queue of one lock, in which a client decides by what it remembers, without listing the directory again.

  Implemented by lib/zookeeper/locks/known-queues.ts, lock-attempt.ts and lock-drivers.ts, and OwnedNode in
  lib/zookeeper/nodes/protected-node.ts. One client has several nodes and one memory of the queue. When the node that one of
  them waits for is gone, that one asks which of the remembered nodes ahead of it are left, and has its turn if there are none. Rules:
  a name that is gone never comes back; a node counts as gone only where the server has shown our own one; our own is watched, and its
  loss is seen before that of any node that goes later; a writer lists always, as a reader may enter ahead of it inside of a held
  writer; the grant of such a reader forgets nobody; a new node needs no listing if it has the next number and the directory has
  been watched all the time.

  The world. The directory counts its nodes, those too that do not have the number in their names; it may vanish when it is empty, and then begins anew. Other clients create and delete
  nodes, and may delete ours. The server of the client shows what the leader has decided after any time, in that order. A link may
  break once; the next server may lag behind the first. A node is a mutex's ("m"), or a writer's and readers' ("w", "r").

  Mutants, and what refutes them (of readers inside of writers: NestedReaders.tla):
    "the loss of our own node is not seen": InTurn
    "a server that has not shown our own node is believed": InTurn
    "the number counts after the link was lost": InTurn
*)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Mutant, MaxNodes, MaxFaults, Lag

None == 0
Ids == 1..MaxNodes

VARIABLES
  isMutex,
  node,      \* all nodes that there ever were: [kind, isOurs, place, writer], where readers inside of a writer have its place
  log,       \* what the leader has decided: [op, id, nodes]; "anew" removes the directory
  served,    \* those that were, at some time, there with nobody ahead that they exclude
  counter,   \* of the directory
  seen,      \* how much of the log the server of the client shows
  link, faults,
  known,     \* the names that the client remembers
  upTo,      \* the place up to which they are all that there are; -1: it does not know
  watched,   \* whether the directory has been watched since
  phase,     \* of our nodes: "sent", "new", "next", "waits", "again", "granted", "left", "over"
  blocker    \* for whom they wait

vars == <<isMutex, node, log, served, counter, seen, link, faults, known, upTo, watched, phase, blocker>>
world == <<isMutex, node, log, served, counter>>

NodesAt(i) == IF i = 0 THEN {} ELSE log[i].nodes
Nodes == NodesAt(Len(log))
Shown == NodesAt(seen)
Next_ == Len(node) + 1

Kinds == IF isMutex THEN {"m"} ELSE {"w", "r"}
Ours == {n \in DOMAIN node : node[n].isOurs}
IsAhead(m, n) == node[m].place < node[n].place
Excludes(m, n) == ~(node[m].kind = "r" /\ node[n].kind = "r") /\ node[m].writer # n /\ node[n].writer # m
WaitsFor(m, n) == IsAhead(m, n) /\ (node[n].kind # "r" \/ node[m].kind # "r")

(* A reader inside of a writer has its turn beside that, or never. *)
HasTurn(n, nodes, all) ==
  IF all[n].writer # None THEN all[n].writer \in nodes
  ELSE \A m \in nodes : all[m].place >= all[n].place \/ (all[n].kind = "r" /\ all[m].kind = "r")

Decide(op, n, all) ==
  LET nodes == CASE op = "create" -> Nodes \union {n} [] op = "delete" -> Nodes \ {n} [] OTHER -> {}
  IN /\ log' = Append(log, [op |-> op, id |-> n, nodes |-> nodes])
     /\ node' = all
     /\ served' = served \union {x \in nodes : HasTurn(x, nodes, all)}

NewNode(kind, isOurs, place, writer) == Append(node, [kind |-> kind, isOurs |-> isOurs, place |-> place, writer |-> writer])

Init ==
  /\ isMutex \in BOOLEAN /\ node = <<>> /\ log = <<>> /\ served = {} /\ counter = 0
  /\ seen = 0 /\ link = TRUE /\ faults = 0 /\ known = {} /\ upTo = -1 /\ watched = FALSE
  /\ phase = <<>> /\ blocker = <<>>

-----------------------------------------------------------------------------
(* The others *)

OtherCreates(kind) ==
  /\ Len(node) < MaxNodes /\ kind \in Kinds
  /\ Decide("create", Next_, NewNode(kind, FALSE, 10 * counter, None)) /\ counter' = counter + 1
  /\ phase' = Append(phase, "over") /\ blocker' = Append(blocker, None)
  /\ UNCHANGED <<isMutex, seen, link, faults, known, upTo, watched>>

(* They delete their own nodes, or one of ours. *)
OtherDeletes(n) ==
  /\ n \in Nodes /\ (n \notin Ours \/ faults < MaxFaults)
  /\ Decide("delete", n, node) /\ faults' = IF n \in Ours THEN faults + 1 ELSE faults
  /\ UNCHANGED <<isMutex, counter, seen, link, known, upTo, watched, phase, blocker>>

Anew ==
  /\ Nodes = {} /\ counter > 0 /\ Len(node) < MaxNodes
  /\ Decide("anew", None, node) /\ counter' = 0
  /\ UNCHANGED <<isMutex, seen, link, faults, known, upTo, watched, phase, blocker>>

-----------------------------------------------------------------------------
(* What the client hears *)

(* The server shows one decision more; what the client hears comes in that order, answers too. *)
Show ==
  /\ seen < Len(log)
  /\ seen' = seen + 1
  /\ LET d == log[seen + 1]
         isGone == link /\ d.op = "delete"
         isMine == link /\ d.op = "create" /\ phase[d.id] = "sent"
         isNext == isMine /\ node[d.id].writer = None /\ watched /\ upTo >= 0 /\ node[d.id].place = upTo + 10
     IN /\ watched' = (watched /\ ~(link /\ d.op = "anew"))
        /\ upTo' = IF isNext THEN node[d.id].place ELSE upTo
        /\ known' = CASE isNext -> known \union {d.id}
                      [] isGone /\ (phase[d.id] = "left" \/ \E n \in Ours : phase[n] = "waits" /\ blocker[n] = d.id) -> known \ {d.id}
                      [] OTHER -> known
        /\ phase' = [n \in DOMAIN phase |->
             CASE isMine /\ n = d.id -> IF isNext THEN "next" ELSE "new"
               [] isGone /\ n = d.id /\ phase[n] \in {"waits", "again", "granted"}
                    /\ Mutant # "the loss of our own node is not seen" -> "over"
               [] isGone /\ phase[n] = "waits" /\ blocker[n] = d.id -> "again"
               [] OTHER -> phase[n]]
  /\ UNCHANGED <<world, link, faults, blocker>>

Cut ==
  /\ link /\ faults < MaxFaults
  /\ link' = FALSE /\ faults' = faults + 1
  /\ watched' = (watched /\ Mutant = "the number counts after the link was lost")
  /\ phase' = [n \in DOMAIN phase |-> CASE phase[n] = "waits" -> "again" [] phase[n] = "sent" -> "over" [] OTHER -> phase[n]]
  /\ UNCHANGED <<world, seen, known, upTo, blocker>>

Attach ==
  /\ ~link
  /\ link' = TRUE /\ seen' \in {i \in 0..Len(log) : Len(log) - i <= Lag}
  /\ UNCHANGED <<world, faults, known, upTo, watched, phase, blocker>>

-----------------------------------------------------------------------------
(* The client *)

Become(n, next) == phase' = [phase EXCEPT ![n] = next]

Create(kind) ==
  /\ link /\ Len(node) < MaxNodes /\ kind \in Kinds
  /\ Decide("create", Next_, NewNode(kind, TRUE, 10 * counter, None)) /\ counter' = counter + 1
  /\ phase' = Append(phase, "sent") /\ blocker' = Append(blocker, None)
  /\ UNCHANGED <<isMutex, seen, link, faults, known, upTo, watched>>

List(n) ==
  /\ link /\ n \in Ours /\ phase[n] \in {"new", "again"} /\ node[n].writer = None
  /\ known' = Shown
  /\ upTo' = IF n \in Shown THEN node[n].place ELSE -1
  /\ watched' = (n \in Shown)
  /\ Become(n, IF n \in Shown THEN "next" ELSE "over")
  /\ UNCHANGED <<world, seen, link, faults, blocker>>

Ahead(n) == {m \in known : WaitsFor(m, n)}

(* Asks for all that are left ahead, behind a look at its own node on the same link. *)
LookAhead(n) ==
  /\ link /\ n \in Ours /\ phase[n] = "again" /\ n \in known
  /\ node[n].kind # "w" \/ Mutant = "a writer does not list again"
  /\ IF \/ n \in Shown
        \/ Mutant = "a server that has not shown our own node is believed"
        \/ Mutant = "the loss of our own node is not seen" /\ \E i \in 1..seen : log[i].op = "delete" /\ log[i].id = n
     THEN known' = known \ (Ahead(n) \ Shown) /\ Become(n, "next")
     ELSE Become(n, "over") /\ UNCHANGED known
  /\ UNCHANGED <<world, seen, link, faults, upTo, watched, blocker>>

(* The nearest of those ahead is watched, beside its own node; one that is gone already is like one that goes. *)
Wait(n) ==
  /\ link /\ n \in Ours /\ phase[n] = "next" /\ Ahead(n) # {}
  /\ LET nearest == CHOOSE m \in Ahead(n) : \A other \in Ahead(n) : ~IsAhead(m, other)
         isGone == nearest \notin Shown
     IN /\ blocker' = [blocker EXCEPT ![n] = nearest]
        /\ known' = IF isGone THEN known \ {nearest} ELSE known
        /\ Become(n, CASE n \notin Shown /\ Mutant \notin {"a server that has not shown our own node is believed",
                                                             "the loss of our own node is not seen"} -> "over"
                       [] n \in Shown /\ ~isGone -> "waits"
                       [] OTHER -> "again")
  /\ UNCHANGED <<world, seen, link, faults, upTo, watched>>

Grant(n) ==
  /\ link /\ n \in Ours /\ phase[n] = "next" /\ Ahead(n) = {}
  /\ Become(n, IF n \in known THEN "granted" ELSE "over")
  /\ UNCHANGED <<world, seen, link, faults, known, upTo, watched, blocker>>

(* A reader inside of a held writer, right ahead of it or right behind it, as their random ids say. *)
CreateInside(n, side) ==
  /\ link /\ n \in Ours /\ phase[n] = "granted" /\ node[n].kind = "w" /\ Len(node) < MaxNodes
  /\ \A m \in Ours : node[m].writer # n
  /\ Decide("create", Next_, NewNode("r", TRUE, node[n].place + side, n)) /\ counter' = counter + 1
  /\ phase' = Append(phase, "sent") /\ blocker' = Append(blocker, None)
  /\ UNCHANGED <<isMutex, seen, link, faults, known, upTo, watched>>

GrantInside(n) ==
  /\ link /\ n \in Ours /\ phase[n] = "new" /\ node[n].writer # None
  /\ Become(n, IF {n, node[n].writer} \subseteq Shown THEN "granted" ELSE "over")
  /\ known' = IF n \in known /\ Mutant = "the grant of an inner reader strikes the writers ahead" THEN known \ Ahead(n) ELSE known
  /\ UNCHANGED <<world, seen, link, faults, upTo, watched, blocker>>

Leave(n) ==
  /\ link /\ n \in Ours \cap Nodes /\ phase[n] \in {"waits", "again", "granted", "over"}
  /\ Decide("delete", n, node) /\ Become(n, "left")
  /\ UNCHANGED <<isMutex, counter, seen, link, faults, known, upTo, watched, blocker>>

(* What it has heard, it makes up its mind about at once. *)
AtOnce == \A n \in DOMAIN phase : phase[n] = "next" => phase'[n] # "next"

(* Bounds, and what the future depends on. *)
IsNear == ~link \/ Len(log) - seen <= Lag
View == <<isMutex, node, [i \in 0..Lag |-> IF i < Len(log) THEN log[Len(log) - i] ELSE 0], served, counter, Len(log) - seen,
          link, faults, known, upTo, watched, phase, blocker>>

Next ==
  \/ \E n \in Ids : Wait(n)
  \/ \E n \in Ids : Grant(n)
  \/ Anew
  \/ Show
  \/ Cut
  \/ Attach
  \/ \E kind \in {"m", "w", "r"} : OtherCreates(kind)
  \/ \E n \in Ids : OtherDeletes(n)
  \/ \E kind \in {"m", "w", "r"} : Create(kind)
  \/ \E n \in Ids : List(n)
  \/ \E n \in Ids : LookAhead(n)
  \/ \E n \in Ids, side \in {-1, 1} : CreateInside(n, side)
  \/ \E n \in Ids : GrantInside(n)
  \/ \E n \in Ids : Leave(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

(* Who is granted the lock had its turn: it was there, in the order of the leader, with nobody ahead whom it excludes. *)
InTurn == \A n \in DOMAIN phase : phase[n] = "granted" => n \in served

(* So no two exclude each other, of those that are there. *)
Exclusion == \A m, n \in served \cap Nodes : m # n => ~Excludes(m, n)
=============================================================================
