import type { OrderedSet } from '../collections/ordered-set.js';
import type { ClientHold } from './hold.js';
import { EventLoopStalls } from './event-loop-stalls.js';
import type { LockEventEmitter } from './lock-event-emitter.js';
import { inTurns } from './timers.js';

/** Emits `endangered` for each of the holds that is. */
export function emitEndangered(events: LockEventEmitter, holds: OrderedSet<ClientHold>): void {
  void inTurns(holds.walk(), (hold) => emitIfEndangered(events, hold));
}

/** Emits `endangered` if the lock is held, and is. */
export function emitIfEndangered(events: LockEventEmitter, hold: ClientHold): void {
  const { confirmedAgoMs = 0, safeForMs } = hold.backend;
  if (safeForMs === undefined || !hold.isLive || !events.isHeard('endangered')) return;
  const stall = EventLoopStalls.shared.longestWithin(confirmedAgoMs);
  const seen = { confirmedAgoMs, safeForMs, stall };
  events.emit('endangered', Object.assign(hold.subject, seen));
}
