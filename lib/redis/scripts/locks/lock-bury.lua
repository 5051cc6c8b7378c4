-- Leaves the tombstone of a holder with an expired lease, so that a late copy of its acquire takes nothing.
-- KEYS lock  ARGV tombstone  -> 1
-- include gone
bury(ARGV[1])
return 1
