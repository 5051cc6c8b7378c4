import type { Redis } from 'ioredis';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisServer } from '../../support/redis-server.js';
import type { CommandLog, Findings } from './findings.js';
import type { Recipe } from './lock-visits.js';
import type { PrimaryAndReplica } from './weather.js';

/** Reads from the primary itself, past the proxy. */
export class PrimaryView {
  readonly #clients = new Map<RedisServer, Redis>();
  /** Number of successful reads. */
  looks = 0;

  constructor(private readonly servers: PrimaryAndReplica) {}

  /** The answer of the primary; `undefined` without one, or where it was not the primary all the time. */
  async read<T>(ask: (redis: Redis) => Promise<T>): Promise<T | undefined> {
    const { servers } = this;
    const { epoch, primary, isChanging } = servers;
    if (isChanging) return undefined;
    const answer = await ask(this.#client(primary)).catch(() => undefined); // it is frozen, or busy
    if (servers.isChanging || servers.epoch !== epoch) return undefined;
    if (answer !== undefined) this.looks += 1;
    return answer;
  }

  #client(server: RedisServer): Redis {
    const known = this.#clients.get(server);
    if (known) return known;
    const client = server.client({ commandTimeout: 1_000, maxRetriesPerRequest: 1 });
    this.#clients.set(server, client);
    return client;
  }
}

/** A holder that does not act by its lease any more. */
interface Ended {
  readonly key: string;
  readonly holder: string;
  readonly how: 'was released' | 'ran out';
  readonly at: number;
  /** When it was last seen that the server has no such holder. */
  goneAt?: number;
  /** Whether it was seen to hold again at the last look. */
  isBack: boolean;
}

/** Late copies arrive within this time, in ms. */
const WATCHED = 20_000;
const PREFIX_OF_PERMITS = 24;

/**
 * Finds holders that come back: the server has forgotten them, and yet they hold again, although no code acts by their leases.
 */
export class GhostWatch {
  readonly #ended = new Map<string, Ended>();

  constructor(
    private readonly view: PrimaryView,
    private readonly recipes: readonly Recipe[],
    private readonly findings: Findings,
    private readonly log: CommandLog,
  ) {}

  /** From now on no code acts by that lease, and nothing acquires the lock for its holder. */
  ended(lease: RedisLease, how: Ended['how']): void {
    const { key } = lease;
    const holder = lease.permitIds[0]?.slice(0, PREFIX_OF_PERMITS) ?? lease.holder;
    this.#ended.set(`${key} ${holder}`, { key, holder, how, at: performance.now(), isBack: false });
  }

  async look(): Promise<void> {
    const startedAt = performance.now();
    const holders = await this.view.read((redis) => this.#holders(redis));
    if (!holders) return;
    for (const [name, ended] of this.#ended) {
      if (ended.at >= startedAt) continue;
      const isThere = holders.has(name);
      // Seen once, it may be between the copy of its acquire and that of its release, which arrive one after the other.
      const isGhost = isThere && ended.isBack;
      if (isGhost && this.#isKnownToBeOver(ended)) this.#tell(ended);
      if (isGhost || startedAt - ended.at > WATCHED) this.#ended.delete(name);
      ended.isBack = isThere && ended.goneAt !== undefined;
      if (!isThere) ended.goneAt = startedAt;
    }
  }

  /**
   * Whether the server knew of the end of its lease while it was gone. A client that is cut off when a lease runs out leaves the
   * tombstone later: a copy of the acquire that comes before that takes the lock, for one lease.
   */
  #isKnownToBeOver({ how, holder, goneAt }: Ended): boolean {
    return how === 'was released' || this.log.buriedAt(holder) < goneAt!;
  }

  /** `key holder` of all holders. */
  async #holders(redis: Redis): Promise<Set<string>> {
    const found = await Promise.all(
      this.recipes.map(async ({ keys, kind }) => {
        const [key] = keys as [string];
        if (kind === 'permits') {
          const ids = await redis.zrangebyscoreBuffer(`{${key}}:timeout`, Date.now(), '+inf');
          return ids.map((id) => `${key} ${id.toString('hex').slice(0, PREFIX_OF_PERMITS)}`);
        }
        const fields = await Promise.all(keys.map((each) => redis.hkeys(each)));
        return keys.flatMap((each, n) => fields[n]!.map((field) => `${each} ${holderOf(field)}`));
      }),
    );
    return new Set(found.flat());
  }

  #tell({ key, holder, how, at }: Ended): void {
    const ago = Math.round(performance.now() - at);
    const text = `${key}: ${holder} holds again, ${ago} ms after its lease ${how}`;
    const zero = performance.now() - this.findings.now;
    this.findings.add(`ghost of a lease that ${how}`, text, () =>
      this.log.story(key, zero, [holder], 20),
    );
  }
}

/** A writer's field marks it as a writer. */
const holderOf = (field: string) => field.replace(/:write$/, '');

/** A lease that code acts by. */
export interface Visitor {
  readonly lease: RedisLease;
  readonly client: string;
  readonly mode: 'alone' | 'write' | 'read' | 'permits';
  /** When it was granted, by `performance.now()`. */
  readonly since: number;
}

/** Watches over the holders of leases of one key. */
export interface LockJudge {
  readonly key: string;
  enter(visitor: Visitor): void;
  /** Call it just before the release. */
  leave(visitor: Visitor): void;
}

/** Looks at the leases that are valid whenever someone comes or goes. */
abstract class InsideJudge implements LockJudge {
  protected readonly inside = new Set<Visitor>();

  constructor(
    readonly key: string,
    protected readonly findings: Findings,
    private readonly log: CommandLog,
  ) {}

  enter(visitor: Visitor): void {
    this.inside.add(visitor);
    this.#look();
  }

  leave(visitor: Visitor): void {
    this.#look();
    this.inside.delete(visitor);
  }

  protected abstract judge(valid: readonly Visitor[]): void;

  protected add(kind: string, text: string, visitors: readonly Visitor[]): void {
    const { key, findings, log } = this;
    findings.add(kind, `${key}: ${text}`, () => storyOf(key, visitors, findings, log));
  }

  #look(): void {
    this.judge([...this.inside].filter(({ lease }) => lease.isHeld));
  }
}

/** Finds two holders of one lock: a lease that claims to be held, at the moment of use, while another one does so too. */
export class ExclusionJudge extends InsideJudge {
  #highestToken = 0n;

  /** Like a store that rejects tokens that are not above the last one. */
  present(visitor: Visitor, token: bigint): void {
    if (!visitor.lease.isHeld) return;
    if (token <= this.#highestToken)
      this.add('token', `${token} is valid after ${this.#highestToken}`, [visitor]);
    this.#highestToken = token;
  }

  protected judge(valid: readonly Visitor[]): void {
    if (valid.length < 2 || valid.every(({ mode }) => mode === 'read')) return;
    this.add('overlap', valid.map(nameOf).join(' and '), valid);
    for (const visitor of valid.slice(0, -1)) this.inside.delete(visitor); // reported once
  }
}

/** Finds it when more permits are held than exist. */
export class PermitsJudge extends InsideJudge {
  constructor(
    key: string,
    private readonly permits: number,
    findings: Findings,
    log: CommandLog,
  ) {
    super(key, findings, log);
  }

  protected judge(valid: readonly Visitor[]): void {
    const taken = valid.reduce((sum, { lease }) => sum + lease.permitIds.length, 0);
    if (taken <= this.permits) return;
    const holders = valid.map(nameOf).join(' and ');
    this.add('permits', `${taken} permits of ${this.permits}: ${holders}`, valid);
    this.inside.delete(valid[0]!); // reported once
  }
}

function nameOf({ lease, client, since, mode }: Visitor): string {
  const age = Math.round(performance.now() - since);
  return `${lease.holder} of ${client} (${mode}), for ${age} ms, ${Math.round(lease.remaining())} ms left`;
}

function storyOf(
  key: string,
  visitors: readonly Visitor[],
  findings: Findings,
  log: CommandLog,
): string[] {
  const zero = performance.now() - findings.now;
  const holders = visitors.map(({ lease }) => lease.permitIds[0]?.slice(0, 24) ?? lease.holder);
  return log.story(key, zero, holders);
}

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
