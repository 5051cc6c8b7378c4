import type { Redis } from 'ioredis';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { CommandLog } from './command-log.js';
import type { Findings } from './findings.js';
import type { Visitor } from './lock-judges.js';
import type { PrimaryView } from './primary-view.js';

/** Tolerance in ms for a clock of whole milliseconds and a stalled turn of the event loop. */
const MARGIN = 30;

/**
 * Finds leases that claim to be held for longer than the server keeps the lock for them: the next holder would get it too soon,
 * whether or not there is one.
 */
export class LeaseWatch {
  readonly #visitors = new Set<Visitor>();

  constructor(
    private readonly view: PrimaryView,
    private readonly findings: Findings,
    private readonly log: CommandLog,
  ) {}

  enter(visitor: Visitor): void {
    this.#visitors.add(visitor);
  }

  /** Call it just before the release. */
  leave(visitor: Visitor): void {
    this.#visitors.delete(visitor);
  }

  async look(): Promise<void> {
    const before = [...this.#visitors].filter(({ lease }) => lease.isHeld);
    const claimed = before.map(({ lease }) => endOf(lease));
    const kept = await this.view.read((redis) =>
      Promise.all(before.map((visitor) => msLeft(redis, visitor))),
    );
    if (!kept) return;
    const now = performance.now();
    before.forEach((visitor, n) => {
      const { lease } = visitor;
      const isSame = this.#visitors.has(visitor) && lease.isHeld;
      const end = Math.min(claimed[n]!, endOf(lease)); // it may have been extended meanwhile
      if (isSame && now + kept[n]! + MARGIN < end) this.#tell(visitor, end - now, kept[n]!);
    });
  }

  #tell(visitor: Visitor, claimed: number, kept: number): void {
    const { key, holder } = visitor.lease;
    const text = `${key}: ${holder} of ${visitor.client} says ${Math.round(claimed)} ms, the server ${kept}`;
    const zero = performance.now() - this.findings.now;
    const mark = visitor.lease.permitIds[0]?.slice(0, 24) ?? holder;
    this.findings.add('shortened', text, () => this.log.story(key, zero, [mark], 12));
    this.#visitors.delete(visitor); // reported once
  }
}

const endOf = (lease: RedisLease) => performance.now() + lease.remaining();

/** How long the server keeps the lock for that holder; below 0 if it does not. */
async function msLeft(redis: Redis, { lease, mode }: Visitor): Promise<number> {
  const { key, holder } = lease;
  if (mode === 'permits') {
    const ids = lease.permitIds.map((id) => Buffer.from(id, 'hex'));
    const scores = await Promise.all(ids.map((id) => redis.zscore(`{${key}}:timeout`, id)));
    return Math.min(...scores.map((score) => Number(score ?? 0))) - Date.now();
  }
  const field = mode === 'write' ? `${holder}:write` : holder;
  const names = [key, ...(mode === 'alone' ? [] : [`{${key}}:${field}:rwlock_timeout:1`])];
  const lives = await Promise.all(names.map((name) => redis.pttl(name)));
  return (await redis.hexists(key, field)) === 1 ? Math.min(...lives) : -1;
}
