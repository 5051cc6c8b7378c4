------------------------------ MODULE KeptLock ------------------------------
(*
  A lock that a process keeps when none of its callers uses it, until another one asks for it, on ZooKeeper: the rules that `keep`
  follows. Tokens, guarded writes: see HandOff.tla.

  1. When it is kept for the first time since the grant, the directory is listed with a child watch. A link that is lost ends the
     watch; then the lock is given back.
  2. Once another queuer was seen, of any client in any language, it is kept no more. Callers of the process get it only on release,
     within the bound of its hand-offs, which counts from the grant by the servers, whether it was kept or not.
  3. It is kept no longer than the session is believed in. After a crash the others wait for one session timeout.
  4. It may be given back at any time: `keep` bounds for how long it is idle.

  The world. Process A and others, F, who queue on the servers. Messages take any time; the link of A may break once; its session
  may end then, or when it crashes. There is no clock: that the others are served does not depend on `keep`.

  Mutants, and what refutes them:
    "keep it although another queuer was seen": OthersAreServed
    "hand it on without a bound": OthersAreServed
    "keep it after a lost link": OthersAreServed
    "list without a watch": OthersAreServed
    "give it to a caller after the end of the session": Exclusion
*)
EXTENDS Integers, Sequences

CONSTANTS Mutant, MaxCallers, AtMost

VARIABLES
  queue,   \* on the servers: "A" or "F", without the holder
  holder,  \* on the servers: "none", "A" or "F"
  mine,    \* "none", "used" or "idle"
  callers, \* number of those of A that want it
  turns,   \* number of hand-offs since the grant
  seen,    \* whether another queuer was seen since the grant, or may be there unseen
  listed,  \* whether the listing since the grant was sent
  watch,   \* whether the child watch is set
  link,    \* "up", "down"; "cut": up again after it was down
  crashed

vars == <<queue, holder, mine, callers, turns, seen, listed, watch, link, crashed>>

Init ==
  /\ queue = <<>> /\ holder = "none" /\ mine = "none" /\ callers = 0 /\ turns = 0
  /\ seen = FALSE /\ listed = FALSE /\ watch = FALSE /\ link = "up" /\ crashed = FALSE

IsQueued(who) == \E i \in DOMAIN queue : queue[i] = who
IsLinked == link # "down" /\ ~crashed
IsBounded == Mutant # "hand it on without a bound"

Call ==
  /\ callers < MaxCallers /\ ~crashed /\ callers' = callers + 1
  /\ UNCHANGED <<queue, holder, mine, turns, seen, listed, watch, link, crashed>>

Ask ==
  /\ mine = "none" /\ IsLinked /\ callers > 0 /\ ~IsQueued("A") /\ holder # "A"
  /\ queue' = Append(queue, "A")
  /\ UNCHANGED <<holder, mine, callers, turns, seen, listed, watch, link, crashed>>

QueueF ==
  /\ ~IsQueued("F") /\ holder # "F"
  /\ queue' = Append(queue, "F")
  /\ UNCHANGED <<holder, mine, callers, turns, seen, listed, watch, link, crashed>>

Grant ==
  /\ holder = "none" /\ queue # <<>>
  /\ queue' = Tail(queue) /\ holder' = Head(queue)
  /\ IF Head(queue) = "A"
     THEN mine' = "used" /\ callers' = callers - 1 /\ turns' = 0 /\ seen' = FALSE /\ listed' = FALSE /\ watch' = FALSE
     ELSE UNCHANGED <<mine, callers, turns, seen, listed, watch>>
  /\ UNCHANGED <<link, crashed>>

MayGoOn == turns < AtMost \/ ~IsBounded

(* A release hands it on, keeps it, or gives it back. *)
HandOn ==
  /\ mine = "used" /\ ~crashed /\ callers > 0 /\ MayGoOn
  /\ callers' = callers - 1 /\ turns' = IF IsBounded THEN turns + 1 ELSE turns
  /\ UNCHANGED <<queue, holder, mine, seen, listed, watch, link, crashed>>

Keep ==
  /\ mine = "used" /\ ~crashed /\ callers = 0 /\ MayGoOn
  /\ ~seen \/ Mutant = "keep it although another queuer was seen"
  /\ mine' = "idle"
  /\ UNCHANGED <<queue, holder, callers, turns, seen, listed, watch, link, crashed>>

(* An answer that shows another queuer is as good as the event. *)
List ==
  /\ mine = "idle" /\ IsLinked /\ ~listed /\ listed' = TRUE
  /\ seen' = (seen \/ IsQueued("F")) /\ watch' = ~seen'
  /\ UNCHANGED <<queue, holder, mine, callers, turns, link, crashed>>

Hear ==
  /\ watch /\ IsLinked /\ IsQueued("F")
  /\ Mutant # "list without a watch"
  /\ seen' = TRUE /\ watch' = FALSE
  /\ UNCHANGED <<queue, holder, mine, callers, turns, listed, link, crashed>>

TakeIdle ==
  /\ mine = "idle" /\ ~crashed /\ callers > 0 /\ MayGoOn
  /\ mine' = "used" /\ callers' = callers - 1 /\ turns' = IF IsBounded THEN turns + 1 ELSE turns
  /\ UNCHANGED <<queue, holder, seen, listed, watch, link, crashed>>

GiveBack ==
  /\ mine \in {"used", "idle"} /\ IsLinked
  /\ mine = "used" => ~(ENABLED HandOn) /\ ~(ENABLED Keep)
  /\ mine' = "none" /\ holder' = IF holder = "A" THEN "none" ELSE holder
  /\ turns' = 0 /\ seen' = FALSE /\ listed' = FALSE /\ watch' = FALSE
  /\ UNCHANGED <<queue, callers, link, crashed>>

(* It must: an idle lock that others were seen to want, or that the callers there may not have. *)
MustGiveBack ==
  /\ \/ mine = "used"
     \/ mine = "idle" /\ seen /\ Mutant # "keep it although another queuer was seen"
     \/ mine = "idle" /\ ~MayGoOn
  /\ GiveBack

ReleaseF ==
  holder = "F" /\ holder' = "none" /\ UNCHANGED <<queue, mine, callers, turns, seen, listed, watch, link, crashed>>

(* The watch is lost, or the answer to the listing. *)
Cut ==
  /\ link = "up" /\ ~crashed /\ link' = "down"
  /\ watch' = FALSE
  /\ seen' = (seen \/ (listed /\ Mutant # "keep it after a lost link"))
  /\ UNCHANGED <<queue, holder, mine, callers, turns, listed, crashed>>

Attach ==
  /\ link = "down" /\ ~crashed /\ link' = "cut"
  /\ UNCHANGED <<queue, holder, mine, callers, turns, seen, listed, watch, crashed>>

Crash ==
  /\ ~crashed /\ crashed' = TRUE /\ mine' = "none"
  /\ UNCHANGED <<queue, holder, callers, turns, seen, listed, watch, link>>

(* The session of A ends on the servers, and for A before that. *)
Expire ==
  /\ crashed \/ link = "down"
  /\ holder' = IF holder = "A" THEN "none" ELSE holder
  /\ queue' = SelectSeq(queue, LAMBDA who : who # "A")
  /\ IF Mutant = "give it to a caller after the end of the session" THEN UNCHANGED mine ELSE mine' = "none"
  /\ turns' = 0 /\ seen' = FALSE /\ listed' = FALSE /\ watch' = FALSE
  /\ UNCHANGED <<callers, link, crashed>>

Next == Call \/ Ask \/ QueueF \/ Grant \/ HandOn \/ Keep \/ List \/ Hear \/ TakeIdle \/ GiveBack \/ ReleaseF
        \/ Cut \/ Attach \/ Crash \/ Expire

Fairness ==
  /\ WF_vars(Grant) /\ WF_vars(HandOn \/ Keep \/ MustGiveBack) /\ WF_vars(List) /\ WF_vars(Hear)
  /\ SF_vars(TakeIdle) /\ WF_vars(ReleaseF) /\ WF_vars(Attach) /\ WF_vars(crashed /\ Expire)

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------

Exclusion == ~(mine # "none" /\ holder = "F")

(* However many callers A has, and for however long: others who queue get the lock. *)
OthersAreServed == IsQueued("F") ~> (holder = "F")
=============================================================================
