import { LockNotHeldError } from '../../core/errors/index.js';
import type { Hold, HoldBackend } from '../../core/internal/hold.js';
import { unlessLost } from '../../core/internal/timers.js';
import type { HandOff, LockIdentity } from '../../core/lock.js';
import type { Renewal } from '../connection/renewal-schedule.js';
import type { RecipeContext } from '../recipe-context.js';
import { lockBury, lockRenew, tokenRaise } from '../scripts/index.js';
import { answerInTime } from './idempotent-requests.js';
import type { HandedHold, LocalQueuePlace } from './local-queue.js';
import type { LockCommand, LockCommands } from './lock-commands.js';

/**
 * Fencing token of a hold and of the holds inside of it: the first one that asks for it fetches it for all.
 *
 * If a reader had a greater token than the writer it is inside of, the protected resource would reject that writer.
 */
export class SharedFencingToken {
  /** Whether it was asked for. */
  wasAsked = false;
  #asking?: Promise<bigint>;

  /** @param value token, if it came with the grant */
  constructor(private value?: bigint) {}

  /** Token, if it came with the grant or was fetched. */
  get known(): bigint | undefined {
    return this.value;
  }

  /** Resolves to the token; rejects as `ask` does, after which the next caller tries its own `ask`. */
  async get(ask: () => Promise<bigint>): Promise<bigint> {
    this.wasAsked = true;
    while (this.#asking !== undefined) await this.#asking.catch(() => {});
    if (this.value !== undefined) return this.value;
    this.#asking = ask();
    try {
      return (this.value = await this.#asking);
    } finally {
      this.#asking = undefined;
    }
  }
}

/** Asks the server for the next token of the hold. Rejects if that is lost, or there is no answer. */
export async function nextToken(
  context: RecipeContext,
  commands: LockCommands,
  hold: Hold<HoldBackend & { readonly holder: string; gone(): void }>,
): Promise<bigint> {
  const { script, keys, args } = commands.token(hold.backend.holder);
  const asking = unlessLost(hold, context.connection.run(script, keys, args));
  const next = await answerInTime(context, hold.context, asking);
  if (next === null) hold.backend.gone();
  if (hold.lost) throw hold.lost;
  if (next === null) throw new LockNotHeldError(hold.context);
  return BigInt(next as number);
}

/** Ensures that no later holder gets a token below `token`; rejects if the lock is not held, or there is no answer. */
export async function raiseToken(
  context: RecipeContext,
  commands: LockCommands,
  hold: Hold<HoldBackend & { readonly holder: string }>,
  token: bigint,
): Promise<void> {
  const { keys, args } = commands.token(hold.backend.holder);
  const raising = context.connection.run(tokenRaise, keys, [...args, String(token)]);
  const raised = await answerInTime(context, hold.context, unlessLost(hold, raising));
  if (raised !== 1) throw new LockNotHeldError(hold.context);
}

/** Lets the lease expire on the server after `rest` ms, whatever happens to this process. */
export async function letRunOut(
  { releases, clock }: RecipeContext,
  { keys, field, kind, extension = 0 }: Renewal,
  rest: number,
): Promise<void> {
  const command = { script: lockRenew, keys, args: [field, rest, kind, extension, 1] };
  await releases.run(command, clock.now() + rest);
}

/** Terms of a grant. Times are in ms. */
export interface RedisGrant extends HandedHold {
  readonly identity: LockIdentity;
  /** Key of the lock, as given by the user. */
  readonly key: string;
  /** Method that requested the lock. */
  readonly method?: string | undefined;
  /** Whether the lease is renewed for as long as the lock is held. */
  readonly isRenewed: boolean;
  readonly maxHold?: number | undefined;
  /** Bounds within which it may be handed on. */
  readonly handOff?: HandOff | undefined;
  /** Token of this hold, if it came with the grant. */
  readonly token?: bigint | undefined;
  /** Token of the writer that this hold is inside of. */
  readonly sharedToken?: SharedFencingToken | undefined;
  /** Its place in the local queue, left when the lock was released, or is lost. */
  readonly place: Pick<LocalQueuePlace, 'leave' | 'handOff' | 'isLast' | 'onFollowed'>;
  /** Sends the release, if it is not sent for this lock alone; as `GuaranteedRelease.run`. */
  readonly release?: SendRelease | undefined;
}

/** How much faster than the local clock a server's clock may run: a fraction of the time, plus a fixed part in ms. */
const DRIFT = 0.01;
const FIXED_DRIFT = 2;

/**
 * Time until which a lease is safe by the local clock: it began on the server after the command was sent, and the server's
 * clock may run faster (the drift of the Redlock algorithm).
 */
export function driftAdjustedDeadline(sentAt: number, lease: number): number {
  return sentAt + lease - (lease * DRIFT + FIXED_DRIFT);
}

/** Sends a release, as `GuaranteedRelease.run` does. */
export type SendRelease = (command: LockCommand, until: number) => Promise<number | undefined>;

/** Tombstone to leave when the hold ends, if a copy of its acquire may arrive later; else ''. */
export function tombstoneOf(
  { connection }: RecipeContext,
  commands: LockCommands,
  { interruptions, holder }: RedisGrant,
): string {
  if (connection.interruptions.count === interruptions) return '';
  return commands.tombstoneOf(holder);
}

/** Ensures that a copy of its acquire acquires nothing after the lease has expired, as the hold may never be released. */
export function buryCopies(
  context: RecipeContext,
  commands: LockCommands,
  grant: RedisGrant,
  lease: number,
): void {
  const tombstone = tombstoneOf(context, commands, grant);
  if (tombstone === '') return;
  const [key] = commands.renewalKeys(grant.holder);
  const bury = { script: lockBury, keys: [key], args: [tombstone] };
  void context.releases.run(bury, context.clock.now() + lease);
}
