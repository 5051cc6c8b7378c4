import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import type { RedisServer } from '../../support/redis-server.js';
import type { CommandLog } from './command-log.js';
import type { Findings } from './findings.js';
import type { Ledger } from './ledger.js';
import { PERMITS, RECIPES } from './recipes.js';

/** Time in ms after which the longest lease of the storm is over, and copies of releases have arrived. */
const LONGEST = 15_000;
/** Maximum lifetime of what the servers remember of requests and of holders, in ms. */
const LONGEST_MEMORY = 16 * 60_000;

/** What is kept without expiry, as documented. */
const COUNTERS = [/^redisson_lock_token:/, /^interlock_permits:/];
/** What is kept for some minutes, as documented, so that a late copy does no harm. */
const MEMORIES = [/^interlock_requests?:/, /^interlock_gone:/, /^interlock_extended:/];

/** Checks what a storm has left, when all is calm and its clients are closed. */
export class Aftermath {
  constructor(
    private readonly server: RedisServer,
    private readonly findings: Findings,
    private readonly log: CommandLog,
  ) {}

  /** @param numbers keys that are numbers of plain semaphores, or of permits that are free, or of latches */
  async inspect(
    numbers: readonly string[],
    ledgers: readonly (readonly [Ledger, () => Promise<number>])[],
  ): Promise<void> {
    for (const [ledger, read] of ledgers) await this.#balance(ledger, await read());
    const isClear = async () => !(await this.#hasLeases(numbers));
    await eventually('the leases are over', isClear, { within: LONGEST, every: 100 }).catch(
      () => {},
    );
    await this.#locks();
    for (const key of await this.#unknownKeys(numbers)) {
      const life = await this.server.command('PTTL', key);
      this.#add('left', `${key} is left, for ${String(life)} ms`, key);
    }
    await this.#memories();
  }

  async #balance(ledger: Ledger, number: number): Promise<void> {
    if (ledger.allows(number)) return;
    const text = `${ledger.key} is ${number}, must be ${ledger.toString()}`;
    const zero = performance.now() - this.findings.now;
    this.findings.add('count', text, () => this.log.copies(ledger.key, zero));
  }

  /** Whether anything is held or waited for. Permits with expired leases return with the next command that acquires any. */
  async #hasLeases(numbers: readonly string[]): Promise<boolean> {
    const keys = await this.#unknownKeys(numbers);
    const isPermits = (key: string) => /^\{.*\}:timeout$/.test(key);
    const held = keys
      .filter(isPermits)
      .map((key) => this.server.command('ZCOUNT', key, Date.now(), '+inf'));
    const areHeld = (await Promise.all(held)).some((count) => Number(count) > 0);
    return areHeld || !keys.every(isPermits);
  }

  /** The keys that are not documented to stay. */
  async #unknownKeys(numbers: readonly string[]): Promise<string[]> {
    const isKnown = (key: string) =>
      numbers.includes(key) || [...COUNTERS, ...MEMORIES].some((name) => name.test(key));
    return ((await this.server.command('KEYS', '*')) as string[]).filter((key) => !isKnown(key));
  }

  async #memories(): Promise<void> {
    const all = (await this.server.command('KEYS', '*')) as string[];
    for (const key of all.filter((name) => MEMORIES.some((memory) => memory.test(name)))) {
      const life = Number(await this.server.command('PTTL', key));
      const isBounded = life !== -1 && life <= LONGEST_MEMORY;
      if (!isBounded) this.#add('left', `${key} lives for ${life} ms`, key);
    }
  }

  /** All is free: another client acquires it at once. */
  async #locks(): Promise<void> {
    const { host, port } = this.server;
    const fresh = await createRedisLockClient('fresh', { connect: { host, port } });
    await fresh.connect();
    try {
      for (const recipe of RECIPES) await this.#take(fresh, recipe.name);
      await (await fresh.semaphore('resized').tryAcquire())?.release(); // permits with expired leases return with it
    } finally {
      await fresh.close();
    }
  }

  async #take(fresh: RedisLockClient, name: string): Promise<void> {
    const { of, kind, keys } = RECIPES.find((recipe) => recipe.name === name)!;
    const [key] = keys as [string];
    const lock = of(fresh, false);
    const options = kind === 'permits' ? { permits: PERMITS } : {};
    const lease = await lock.tryAcquire(options);
    if (!lease) this.#add('not free', `${name} cannot be taken`, key);
    await lease?.release();
    if (kind !== 'permits') return;
    const free = await fresh.semaphore(key).availablePermits();
    if (free !== PERMITS)
      this.#add('lost permits', `${key} has ${free} of ${PERMITS} permits`, key);
  }

  #add(kind: string, text: string, key: string): void {
    const zero = performance.now() - this.findings.now;
    this.findings.add(kind, text, () => this.log.story(key, zero, [], 25));
  }
}
