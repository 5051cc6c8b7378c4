--------------------------- MODULE NestedReaders ---------------------------
(*
  KnownQueues.tla with one node more, on a read/write lock and without faults: there a reader inside of a held writer, the writer,
  another writer and a reader that waits for it meet in one memory.

  Mutants, and what refutes them:
    "the grant of an inner reader strikes the writers ahead": InTurn
    "a writer does not list again": InTurn
*)
EXTENDS KnownQueues

ReadWrite == ~isMutex /\ IsNear
=============================================================================
