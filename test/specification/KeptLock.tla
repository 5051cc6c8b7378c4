------------------------------ MODULE KeptLock ------------------------------
(*
  A lock that a process keeps when none of its callers uses it, on ZooKeeper, until somebody else asks. Not implemented yet: these are
  the rules that an implementation has to keep. Tokens, guarded writes: see HandOff.tla.

  1. It is kept, and given to callers of the process without a request, only under a child watch on the directory, which was set by
     a listing made since the grant. A link that is lost ends the watch; it is set anew by a listing.
  2. Once another queuer was seen, of any client in any language, only the callers who came before that are served. Then the node is
     deleted.
  3. It is kept no longer than the session is believed in. Whoever has crashed costs the others one session timeout.
  4. It may be given back at any time: `keep` bounds for how long it is idle.

  The world. Process A and others, F, who queue on the servers. Messages take any time; the link of A may break once; its session
  may end then, or when it crashes.

  Mutants, and what refutes them:
    "keep it although another queuer was seen": NoLateCaller
    "give nothing back while callers come": OthersAreServed
    "keep it without a watch after a lost link": OthersAreServed
    "list without a watch": OthersAreServed
    "give it to a caller after the end of the session": Exclusion
*)
EXTENDS Integers, Sequences

CONSTANTS Mutant, MaxCallers

VARIABLES
  queue,   \* on the servers: "A" or "F", without the holder
  holder,  \* on the servers: "none", "A" or "F"
  mine,    \* "none", "used" or "idle"
  early,   \* callers of A, who came before another queuer was seen
  later,   \* and after that
  seen,    \* whether another queuer was seen since the grant
  watch,   \* whether the child watch is set
  link,    \* "up", "down"; "cut": up again after it was down
  crashed,
  late     \* whether a later caller went ahead of F

vars == <<queue, holder, mine, early, later, seen, watch, link, crashed, late>>

Init ==
  /\ queue = <<>> /\ holder = "none" /\ mine = "none" /\ early = 0 /\ later = 0
  /\ seen = FALSE /\ watch = FALSE /\ link = "up" /\ crashed = FALSE /\ late = FALSE

IsQueued(who) == \E i \in DOMAIN queue : queue[i] = who
IsLinked == link # "down" /\ ~crashed

Call ==
  /\ early + later < MaxCallers /\ ~crashed
  /\ IF seen THEN later' = later + 1 /\ UNCHANGED early ELSE early' = early + 1 /\ UNCHANGED later
  /\ UNCHANGED <<queue, holder, mine, seen, watch, link, crashed, late>>

Ask ==
  /\ mine = "none" /\ IsLinked /\ early > 0 /\ ~IsQueued("A") /\ holder # "A"
  /\ queue' = Append(queue, "A")
  /\ UNCHANGED <<holder, mine, early, later, seen, watch, link, crashed, late>>

QueueF ==
  /\ ~IsQueued("F") /\ holder # "F"
  /\ queue' = Append(queue, "F")
  /\ UNCHANGED <<holder, mine, early, later, seen, watch, link, crashed, late>>

Grant ==
  /\ holder = "none" /\ queue # <<>>
  /\ queue' = Tail(queue) /\ holder' = Head(queue)
  /\ IF Head(queue) = "A" THEN mine' = "used" /\ early' = early - 1 /\ seen' = FALSE /\ watch' = FALSE
     ELSE UNCHANGED <<mine, early, seen, watch>>
  /\ UNCHANGED <<later, link, crashed, late>>

Finish ==
  /\ mine = "used" /\ ~crashed /\ mine' = "idle"
  /\ UNCHANGED <<queue, holder, early, later, seen, watch, link, crashed, late>>

(* It lists the directory with a child watch; an answer that shows another queuer is as good as the event. *)
List ==
  /\ mine # "none" /\ IsLinked /\ ~watch /\ ~seen
  /\ Mutant = "keep it without a watch after a lost link" => link = "up"
  /\ seen' = IsQueued("F") /\ watch' = ~seen'
  /\ UNCHANGED <<queue, holder, mine, early, later, link, crashed, late>>

Hear ==
  /\ watch /\ IsLinked /\ IsQueued("F")
  /\ Mutant # "list without a watch"
  /\ seen' = TRUE /\ watch' = FALSE
  /\ UNCHANGED <<queue, holder, mine, early, later, link, crashed, late>>

GiveToCaller ==
  /\ mine = "idle" /\ ~crashed
  /\ watch \/ seen \/ (Mutant = "keep it without a watch after a lost link" /\ link = "cut")
  /\ \/ early > 0 /\ early' = early - 1 /\ UNCHANGED <<later, late>>
     \/ /\ early = 0 /\ later > 0 /\ Mutant \in {"keep it although another queuer was seen", "give nothing back while callers come"}
        /\ later' = later - 1 /\ late' = (late \/ IsQueued("F")) /\ UNCHANGED early
  /\ mine' = "used"
  /\ UNCHANGED <<queue, holder, seen, watch, link, crashed>>

GiveBack ==
  /\ mine = "idle" /\ IsLinked
  /\ Mutant = "give nothing back while callers come" => early + later = 0
  /\ mine' = "none" /\ holder' = IF holder = "A" THEN "none" ELSE holder
  /\ early' = early + later /\ later' = 0 /\ seen' = FALSE /\ watch' = FALSE
  /\ UNCHANGED <<queue, link, crashed, late>>

MustGiveBack == seen /\ early = 0 /\ GiveBack

ReleaseF == holder = "F" /\ holder' = "none" /\ UNCHANGED <<queue, mine, early, later, seen, watch, link, crashed, late>>

Cut ==
  /\ link = "up" /\ ~crashed /\ link' = "down"
  /\ watch' = FALSE
  /\ UNCHANGED <<queue, holder, mine, early, later, seen, crashed, late>>

Attach ==
  /\ link = "down" /\ ~crashed /\ link' = "cut"
  /\ UNCHANGED <<queue, holder, mine, early, later, seen, watch, crashed, late>>

Crash ==
  /\ ~crashed /\ crashed' = TRUE /\ mine' = "none"
  /\ UNCHANGED <<queue, holder, early, later, seen, watch, link, late>>

(* The session of A ends on the servers, and for A before that. *)
Expire ==
  /\ crashed \/ link = "down"
  /\ holder' = IF holder = "A" THEN "none" ELSE holder
  /\ queue' = SelectSeq(queue, LAMBDA who : who # "A")
  /\ IF Mutant = "give it to a caller after the end of the session" THEN UNCHANGED <<mine, early, later, seen, watch>>
     ELSE mine' = "none" /\ early' = early + later /\ later' = 0 /\ seen' = FALSE /\ watch' = FALSE
  /\ UNCHANGED <<link, crashed, late>>

Next == Call \/ Ask \/ QueueF \/ Grant \/ Finish \/ List \/ Hear \/ GiveToCaller \/ GiveBack \/ ReleaseF
        \/ Cut \/ Attach \/ Crash \/ Expire

Fairness ==
  /\ WF_vars(Grant) /\ WF_vars(Finish) /\ WF_vars(List) /\ WF_vars(Hear) /\ SF_vars(GiveToCaller) /\ WF_vars(MustGiveBack)
  /\ WF_vars(ReleaseF) /\ WF_vars(Attach) /\ WF_vars(crashed /\ Expire)

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------

Exclusion == ~(mine # "none" /\ holder = "F")

NoLateCaller == ~late

(* However many callers A has, and for how long, who queues elsewhere gets the lock. *)
OthersAreServed == IsQueued("F") ~> (holder = "F")
=============================================================================
