import { setTimeout as delay } from 'node:timers/promises';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/time.js';
import type { RedisServer } from '../../support/redis-server.js';
import { seededRandom } from '../../support/seeded-random.js';
import { changePool, Gates, keepOn, Ledger, PlainVisits } from './counting.js';
import { CommandLog, type Finding, Findings } from './findings.js';
import {
  ExclusionJudge,
  GhostWatch,
  LeaseWatch,
  type LockJudge,
  PermitsJudge,
  PrimaryView,
} from './judges.js';
import { LockVisitor, PERMITS, RECIPES } from './lock-visits.js';
import { UnrulyProxy } from './unruly-proxy.js';
import { type FaultRecord, PrimaryAndReplica, Weather } from './weather.js';

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

/** A lock client in the storm. */
export interface StormClient {
  readonly name: string;
  readonly locks: RedisLockClient;
  /** How often its connection was interrupted. */
  interruptions: number;
}

/** They differ in what they wait for, and in how they send again. Leases are short, so that faults can outlast them. */
const KINDS = [
  { watchdogTimeout: 1_500, socketTimeout: 300, maxRetriesPerRequest: null },
  { watchdogTimeout: 2_000, socketTimeout: 500, maxRetriesPerRequest: 1 },
  { watchdogTimeout: 1_500, socketTimeout: 400, maxRetriesPerRequest: null, commandTimeout: 250 },
  { watchdogTimeout: 2_000, socketTimeout: 3_000, maxRetriesPerRequest: null },
  { watchdogTimeout: 2_000, socketTimeout: 400, maxRetriesPerRequest: 1, commandTimeout: 600 },
  { watchdogTimeout: 1_800, socketTimeout: 350, maxRetriesPerRequest: 20 },
];

/** Connects clients of all kinds to the primary, by the name that leads to it. */
export function connectAll(address: { host: string; port: number }): Promise<StormClient[]> {
  return Promise.all(
    KINDS.map(async ({ watchdogTimeout, ...options }, n) => {
      const name = `client${n + 1}`;
      const connect = {
        ...address,
        ...options,
        connectionName: name,
        retryStrategy: () => 20,
        disconnectTimeout: 0,
      };
      const locks = await createRedisLockClient(name, { connect, watchdogTimeout });
      await locks.connect();
      const client: StormClient = { name, locks, interruptions: 0 };
      locks.on('connection', ({ state }) => {
        if (state === 'SUSPENDED') client.interruptions += 1;
      });
      return client;
    }),
  );
}

/** Results of a storm so far. */
export interface StormReport {
  readonly seed: number;
  /** In ms since the storm began. */
  readonly at: number;
  /** How often each recipe was granted, or did its operation. */
  readonly grants: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly ofServers: readonly FaultRecord[];
  readonly connections: number;
  /** Commands that arrived at a server after their client had given up the connection, and those that arrived twice. */
  readonly late: number;
  readonly again: number;
  /** Operations that ended with an error with an unknown outcome. */
  readonly unknown: number;
  /** How often the servers were checked. */
  readonly looks: number;
  readonly findings: readonly Finding[];
}

/** Visitors of one kind of lock, per client. */
const WORKERS = 2;
const PLENTY = 100_000;
/** How long operations may take to end after the storm, in ms. */
const PATIENCE = 60_000;
const ROUND = 10_000;
const LOOK_EVERY = 40;

/** All recipes on a primary that changes, with clients on unruly connections. */
export class RedisStorm {
  readonly findings = new Findings();
  readonly #grants = new Map(RECIPES.map(({ name }) => [name, 0]));
  readonly #judges = new Map<string, LockJudge>();
  readonly #plain: Ledger;
  readonly #pool: Ledger;
  readonly #tally: Ledger;
  readonly #resized: Ledger;
  readonly #view: PrimaryView;
  readonly #ghosts: GhostWatch;
  readonly #leases: LeaseWatch;
  readonly #weather: Weather;
  readonly #gates: Gates;
  #streams = 0;

  private constructor(
    readonly seed: number,
    private readonly servers: PrimaryAndReplica,
    private readonly log: CommandLog,
    private readonly proxy: UnrulyProxy,
    private readonly clients: readonly StormClient[],
  ) {
    const { findings } = this;
    for (const { kind, keys } of RECIPES)
      for (const key of keys)
        this.#judges.set(
          key,
          kind === 'permits'
            ? new PermitsJudge(key, PERMITS, findings, log)
            : (this.#judges.get(key) ?? new ExclusionJudge(key, findings, log)),
        );
    this.#plain = new Ledger('plain', PERMITS, findings);
    this.#pool = new Ledger('pool', PLENTY, findings);
    this.#tally = new Ledger('tally', PLENTY, findings);
    this.#resized = new Ledger('resized', PERMITS, findings);
    this.#view = new PrimaryView(servers);
    this.#leases = new LeaseWatch(this.#view, findings, log);
    this.#ghosts = new GhostWatch(this.#view, RECIPES, findings, log);
    this.#weather = new Weather(servers, proxy, findings, this.#random());
    this.#gates = new Gates(clients, findings, log, this.#random());
  }

  static async start(seed: number): Promise<RedisStorm> {
    const log = new CommandLog();
    const servers = await PrimaryAndReplica.start();
    const proxy = await UnrulyProxy.start(servers, log, seededRandom(seed));
    const clients = await connectAll({ host: proxy.host, port: proxy.port });
    const [{ locks }] = clients as [StormClient];
    await locks.plainSemaphore('plain').trySetPermits(PERMITS);
    await locks.plainSemaphore('pool').trySetPermits(PLENTY);
    await locks.countDownLatch('tally').trySetCount(PLENTY);
    await locks.semaphore('resized').setPermits(PERMITS);
    return new RedisStorm(seed, servers, log, proxy, clients);
  }

  report(): StormReport {
    const counted = {
      plain: this.#plain,
      pool: this.#pool,
      tally: this.#tally,
      resized: this.#resized,
    };
    const operations = Object.entries(counted).map(([name, { done }]) => [name, done] as const);
    const { connections, late, again } = this.proxy.counts;
    return {
      seed: this.seed,
      at: this.findings.now,
      grants: {
        ...Object.fromEntries([...this.#grants, ...operations]),
        gates: this.#gates.opened,
      },
      faults: this.#weather.counts,
      ofServers: this.#weather.ofServers,
      connections,
      late,
      again,
      unknown: Object.values(counted).reduce((sum, { unknown }) => sum + unknown, 0),
      looks: this.#view.looks,
      findings: this.findings.all,
    };
  }

  /** Resolves when the storm is over and its remains were checked. */
  async rage(duration: number, onRound: (report: StormReport) => void = () => {}): Promise<void> {
    const endsAt = performance.now() + duration;
    const isOver = () => performance.now() >= endsAt;
    const rounds = setInterval(() => onRound(this.report()), ROUND);
    const load = Promise.all(this.#load(isOver));
    let isWatched = true;
    const watch = this.#watch(() => !isWatched);
    await this.#weather.rage(isOver);
    await this.#inTime('what was begun', load);
    await this.#inTime('the closing', Promise.all(this.clients.map(({ locks }) => locks.close())));
    await this.#inTime('the last copies', this.proxy.drained());
    isWatched = false;
    await watch;
    clearInterval(rounds);
    await this.#inspect();
  }

  async #watch(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await delay(LOOK_EVERY);
      await Promise.all([this.#ghosts.look(), this.#leases.look()]);
    }
  }

  /** Ends everything that it has started. */
  async stop(): Promise<void> {
    await Promise.all(this.clients.map(({ locks }) => locks.close()));
    await this.proxy.stop();
    await this.servers.stop();
  }

  #load(isOver: () => boolean): Promise<unknown>[] {
    const { clients, findings } = this;
    const grounds = {
      judges: this.#judges,
      ghosts: this.#ghosts,
      leases: this.#leases,
      findings,
      grants: this.#grants,
    };
    const plain = new PlainVisits(PERMITS, this.#plain, findings);
    const all = Array.from({ length: WORKERS }, () => clients).flat();
    return all
      .flatMap((client) => {
        const { locks } = client;
        const visitors = RECIPES.map((recipe) =>
          new LockVisitor(recipe, client, grounds, this.#random()).work(isOver),
        );
        const random = this.#random();
        const keep = (operate: () => Promise<unknown>) => keepOn(random, isOver, operate);
        return [
          ...visitors,
          keep(() => plain.visit(locks.plainSemaphore('plain'), random)),
          keep(() => changePool(locks.plainSemaphore('pool'), this.#pool, random)),
          keep(() => this.#tally.count(locks.countDownLatch('tally').countDown(), -1)),
          keep(() => this.#resize(client, random)),
        ];
      })
      .concat(keepOn(this.#random(), isOver, () => this.#gates.round()));
  }

  /** One permit more or less, or one held for a moment. */
  async #resize({ locks }: StormClient, random: () => number): Promise<void> {
    const semaphore = locks.semaphore('resized');
    if (random() < 0.3) {
      const lease = await semaphore.tryAcquire().catch(() => undefined);
      await delay(random() * 20);
      return lease?.release();
    }
    const more = random() < 0.5 ? 1 : -1;
    await this.#resized.count(semaphore.addPermits(more), more);
  }

  async #inspect(): Promise<void> {
    const { primary } = this.servers;
    const read = (key: string) => async () => Number(await primary.command('GET', key));
    const permitsOf = async (key: string) => {
      const taken = await primary.command('ZCARD', `{${key}}:timeout`);
      return Number(taken) + (await read(key)());
    };
    const locks = RECIPES.filter(({ kind }) => kind === 'permits').flatMap(({ keys }) => keys);
    const numbers = ['plain', 'pool', 'tally', 'resized', ...locks, ...this.#gates.left];
    await new Aftermath(primary, this.findings, this.log).inspect(numbers, [
      [this.#plain, read('plain')],
      [this.#pool, read('pool')],
      [this.#tally, read('tally')],
      [this.#resized, () => permitsOf('resized')],
    ]);
  }

  /** An operation that does not end is a finding, and does not stop the storm. */
  async #inTime(what: string, work: Promise<unknown>): Promise<void> {
    const late = new AbortController();
    const isLate = delay(PATIENCE, 'late', { signal: late.signal }).catch(() => {});
    if ((await Promise.race([work, isLate])) === 'late')
      this.findings.add('stuck', `${what} has not ended ${PATIENCE} ms after the storm`);
    late.abort();
  }

  /** A random stream of its own, so that the others stay the same when one consumer draws more. */
  #random(): () => number {
    return seededRandom(this.seed * 1_000 + (this.#streams += 1));
  }
}
