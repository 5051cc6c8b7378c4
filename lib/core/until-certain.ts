import type { ElectionBackend } from './election-backend.js';
import type { HeldLease } from './held-lease.js';

/** Resolves when who was elected may act as the leader, when that is lost, or when `signal` aborts. */
export function untilCertain(
  election: ElectionBackend,
  elected: HeldLease,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!election.isCertain && elected.isHeld && !signal.aborted) return;
      for (const stop of stops) stop();
      resolve();
    };
    const stops = [
      election.onCertainty(look),
      elected.hold.onLost(look),
      () => signal.removeEventListener('abort', look),
    ];
    signal.addEventListener('abort', look);
    look();
  });
}
