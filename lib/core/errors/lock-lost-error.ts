import { contextText, LockError, type LockErrorContext } from './lock-error.js';

/** A time in which the event loop of this process ran nothing. */
export interface EventLoopStall {
  /** Its length in ms, to within 250. */
  readonly ms: number;
  /** For how much of it the machine slept, in ms; 0 if that cannot be seen, as when only its virtual machine was stopped. */
  readonly asleepMs: number;
  /** How long before the loss was noticed it ended, in ms. */
  readonly agoMs: number;
}

/** What was seen of a lock before its loss. */
export interface LossEvidence {
  /** The longest stall of the event loop since the grant, if there was one of 2 s or more. */
  readonly stall?: EventLoopStall | undefined;
  /** How long before the loss the request was sent with which the servers last confirmed the lock, in ms. */
  readonly confirmedAgoMs?: number | undefined;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** What it was, how long it lasted, and when it ended. */
export function stallText({ ms, agoMs, asleepMs }: EventLoopStall): string {
  const what =
    asleepMs >= ms / 2 ? 'this machine slept' : 'the event loop of this process was blocked';
  return `${what} for ${seconds(ms)}, until ${seconds(agoMs)} before`;
}

/** What was seen, in parentheses. */
function evidenceText({ stall, confirmedAgoMs }: LossEvidence): string {
  const seen = [
    stall && stallText(stall),
    confirmedAgoMs !== undefined &&
      `the servers confirmed it last ${seconds(confirmedAgoMs)} before`,
  ].filter(Boolean);
  return seen.length === 0 ? '' : ` (${seen.join('; ')})`;
}

/** The lease may no longer be exclusive: its session or its time is over, or the lock was taken away. */
export class LockLostError extends LockError {
  static override readonly code = 'LOCK_LOST';

  /**
   * The longest stall of the event loop since the grant, if there was one of 2 s or more: while it lasted, nothing could be
   * renewed, and the loss could not be noticed.
   */
  readonly stall?: EventLoopStall;
  /**
   * How long before the loss was noticed the servers last confirmed the lock, in ms: counted from the sending of the request that
   * they answered, the grant or a renewal on Redis, a sign of life of the session on ZooKeeper. `undefined` where there is no one
   * answer, as for several locks.
   */
  readonly confirmedAgoMs?: number;

  constructor(
    /** The reason, in a few words. */
    readonly why: string,
    context: LockErrorContext = {},
    evidence: LossEvidence = {},
  ) {
    super(
      'LOCK_LOST',
      `${contextText(context)} is no longer held: ${why}${evidenceText(evidence)}. Stop the protected work and do not write its results, or guard them with the fencing token; then acquire again.`,
      context,
    );
    if (evidence.stall) this.stall = evidence.stall;
    if (evidence.confirmedAgoMs !== undefined) this.confirmedAgoMs = evidence.confirmedAgoMs;
  }
}
