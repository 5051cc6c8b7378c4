// Made of semaphore-undo.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const semaphoreUndo = new Script('semaphore-undo', `-- Gives back what a request has taken that nobody waits for any more.
-- KEYS permits, request, channel  ARGV PUBLISH or SPUBLISH  -> how many listen; -1: it had taken none
local taken = redis.call('getdel', KEYS[2])
if not taken then
  return -1
end
local value = redis.call('incrby', KEYS[1], taken)
return value > 0 and redis.call(ARGV[1], KEYS[3], value) or 0
`);
