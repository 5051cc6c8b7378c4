import { LockError } from '../../lib/core/errors/index.js';
import { RetryNTimes } from '../../lib/zookeeper/connection/retry-policies.js';
import type { LinkListener } from '../../lib/zookeeper/connection/transport.js';
import { ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import type { SharedCount } from '../../lib/zookeeper/shared/shared-count.js';
import type { SimulatedClient } from './client.js';
import type { Dice } from './dice.js';
import { mutexRule } from './locks.js';
import { Observer, watcher } from './observer.js';
import { Company, runSchedule, type Play, type Schedule } from './run-schedule.js';
import { Patience, Times } from './timing.js';
import type { World } from './world.js';

export interface Outcome {
  readonly succeeded: boolean;
  readonly preValue: bigint | number;
  readonly postValue: bigint | number;
}

/** What the numbers of 32 and of 64 bits have in common. */
export interface Counter {
  get(): Promise<bigint | number>;
  add(delta: number): Promise<Outcome>;
  subtract(delta: number): Promise<Outcome>;
  trySet(value: number): Promise<Outcome>;
  compareAndSet(expected: number, value: number): Promise<Outcome>;
  forceSet(value: number): Promise<void>;
  initialize(value: number): Promise<boolean>;
}

/** What is known of a call that is to change the number. */
export interface Change {
  readonly id: number;
  readonly what: string;
  readonly client: SimulatedClient;
  readonly startedAt: number;
  /** Whether it can have changed `before` to `now`. No two calls can make the same change. `undefined`: there was none. */
  readonly makes: (before: bigint | undefined, now: bigint) => boolean;
  /** True if it may be made more than once without harm. */
  readonly isRepeatable: boolean;
  made?: { readonly before: bigint; readonly now: bigint };
  /** True once it has reported that it was not made, and never will be. */
  isDenied?: boolean;
}

const PATH = '/locks/number';

/** Random schedules of a number that all clients change; one of 32 bits is also a shared count. */
export function scheduleOfCounter(bits: 32 | 64): Schedule {
  return (seed) =>
    runSchedule(seed, (world, dice, duration) => begin(world, dice, duration, bits), {
      mayHaveFollowers: false,
    });
}

function begin(world: World, dice: Dice, duration: number, bits: 32 | 64): Play {
  world.observe(`${PATH}-lock`, mutexRule);
  const judge = new CounterJudge(world, PATH, bits);
  const company = new Company(world);
  for (const client of world.clients) {
    const follower = bits === 32 ? new CountFollower(world, judge, client) : undefined;
    for (let left = dice.integer(1, 2); left > 0; left--)
      company.add(client, new CounterUser({ client, judge, dice, follower }).live(duration));
  }
  return company;
}

/**
 * Observes every change of a number on the server, through the tree itself, and compares it with the results that the callers
 * got. Every observed change was requested, and was made once; a caller that learned that its change was made, or was not, got
 * the truth; a caller that learned neither had lost the connection. So the number is always the exact sum.
 */
export class CounterJudge extends Observer {
  override readonly lasting = 1;
  readonly #changes: Change[] = [];
  readonly #watcher: LinkListener;
  readonly values = new Map<number, bigint>();
  readonly #replacedAt: { readonly value: bigint; readonly at: number }[] = [];
  #value?: bigint;
  changedAt = 0;
  /** The transaction that made the value. */
  zxid = -1;

  constructor(
    world: World,
    readonly path: string,
    private readonly bits: 32 | 64,
  ) {
    super(world);
    this.#watcher = watcher(() => this.#changed());
    world.server.tree.watchData(path, this.#watcher);
    world.observers.push(this);
  }

  /** Value on the server; 0 if there is none. */
  get value(): bigint {
    return this.#value ?? 0n;
  }

  get nextId(): number {
    return this.#changes.length + 1;
  }

  began(about: Pick<Change, 'what' | 'client' | 'makes' | 'isRepeatable'>): Change {
    const { nextId: id } = this;
    const change: Change = { ...about, id, startedAt: this.now };
    this.#changes.push(change);
    this.note(change.what, `by ${change.client.name} as ${id}`);
    return change;
  }

  ended(change: Change, { succeeded, preValue, postValue }: Outcome): void {
    if (!succeeded) return this.denied(change);
    this.confirmed(change);
    const { before, now } = change.made ?? { before: 0n, now: 0n };
    if (BigInt(preValue) !== before || BigInt(postValue) !== now)
      this.#accuseOf(change, `made ${now} of ${before}, but says ${postValue} of ${preValue}`);
  }

  confirmed(change: Change): void {
    if (!change.made) this.#accuseOf(change, 'says that it was made, and was not');
    this.note('made', `${change.id}`);
  }

  denied(change: Change): void {
    if (change.made && !change.isRepeatable) this.#accuseOf(change, 'was made, and says that not');
    change.isDenied = true;
    this.note('not made', `${change.id}`);
  }

  failed(change: Change, error: unknown): void {
    const { client, startedAt, id } = change;
    const code = codeOf(error);
    if (code === undefined) this.#accuseOf(change, `fails with ${String(error)}`);
    if (client.closedAt === undefined && client.calmSince < startedAt)
      this.#accuseOf(change, `fails with ${code} although nothing disturbs it`);
    if (code === 'LOCK_CLIENT_CLOSED' && client.closedAt === undefined)
      this.#accuseOf(change, 'fails as if the client were closed');
    this.note(`failed with ${code}`, `${id}`);
    if (code !== 'MAYBE_DONE' && !change.isRepeatable) this.denied(change);
  }

  /** A read that began then has returned that value. */
  read(value: bigint, since: number): void {
    const wasSo = this.#replacedAt.some((past) => past.value === value && past.at >= since);
    if (value !== this.value && !wasSo) this.accuse(`${value} was read, out of time`);
    this.note('read');
  }

  override stop(): void {
    this.world.server.tree.forget(this.#watcher);
  }

  #accuseOf({ what, id }: Change, wrong: string): void {
    this.accuse(`${what} ${id} ${wrong}`);
  }

  #changed(): void {
    const { server } = this.world;
    server.tree.watchData(this.path, this.#watcher);
    const node = server.tree.get(this.path);
    if (!node) return this.accuse('the number was removed');
    const before = this.#value;
    const now = BigInt(this.bits === 32 ? node.data.readInt32BE() : node.data.readBigInt64BE());
    const change = this.#authorOf(before, now);
    if (!change) this.accuse(`no client has made ${now} of ${before}`);
    else if (change.isDenied) this.#accuseOf(change, 'is made after it said that it was not');
    else if (change.made && !change.isRepeatable) this.#accuseOf(change, 'is made twice');
    if (change) change.made = { before: before ?? 0n, now };
    this.note('number changed', `${change?.id ?? 'no one'} to ${now}`);
    this.#replacedAt.push({ value: this.value, at: this.now });
    this.#value = now;
    this.changedAt = this.now;
    this.zxid = node.stat().mzxid;
    this.values.set(this.zxid, now);
  }

  #authorOf(before: bigint | undefined, now: bigint): Change | undefined {
    const able = this.#changes.filter((change) => change.makes(before, now));
    const expected = able.find(({ made, isDenied }) => !made && !isDenied);
    return expected ?? able.find(({ isRepeatable }) => isRepeatable) ?? able[0];
  }
}

/** `undefined`: an error that must not occur. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof ZooKeeperError && error.maybeDone) return 'MAYBE_DONE';
  if (error instanceof ZooKeeperError && error.isConnectionLoss) return 'CONNECTION_LOSS';
  const codes = ['LOCK_CLIENT_CLOSED', 'LOCK_CONNECTION'];
  return error instanceof LockError && codes.includes(error.code) ? error.code : undefined;
}

/** A client's view of the number as a shared count: only values that existed, never an older one, and soon the current one. */
export class CountFollower extends Observer {
  readonly count: SharedCount;
  /** Resolves when it has seen the number, or its client is closed. */
  readonly started: Promise<void>;
  #startedAt = Times.never;
  #zxid = -1;

  constructor(
    world: World,
    private readonly judge: CounterJudge,
    private readonly client: SimulatedClient,
  ) {
    super(world);
    this.count = client.locks.sharedCount(judge.path, 0);
    const makes = (before: bigint | undefined, now: bigint) => before === undefined && now === 0n;
    judge.began({ what: 'start', client, makes, isRepeatable: true });
    world.observers.push(this);
    this.started = this.#start();
  }

  override check(): void {
    const { value, zxid } = this.count.versionedCount;
    const { name } = this.client;
    if (zxid < this.#zxid) this.accuse(`${name} goes back from ${this.#zxid} to ${zxid}`);
    if (zxid > this.#zxid && this.judge.values.get(zxid) !== BigInt(value))
      this.accuse(`${name} has seen ${value}, which was never there`);
    this.#zxid = zxid;
    if (zxid === this.judge.zxid) return;
    const since = Times.latest(this.judge.changedAt, this.#startedAt, this.client.calmSince);
    if (this.now > since + Patience.TO_SERVE)
      this.accuse(`${name} takes it for ${value} since ${since.toFixed(1)} ms`);
  }

  async #start(): Promise<void> {
    const { client, count } = this;
    while (client.closedAt === undefined && this.#startedAt === Times.never)
      await count.start().then(
        () => (this.#startedAt = this.world.clock.now()),
        () => client.sleep(Patience.TO_SERVE), // no answer in time: try again
      );
  }
}

export interface CounterUserOptions {
  readonly client: SimulatedClient;
  readonly judge: CounterJudge;
  readonly dice: Dice;
  /** The same number as a shared count, where it has 32 bits. */
  readonly follower?: CountFollower;
}

/** A schedule has no more calls than that. */
const IDS = 1_024;
/** A call sets its own number, multiplied by this. */
const APART = 1_000_000;
/** Numbers of 64 bits are multiples of this. */
const UNIT = 2 ** 20;

const METHODS: readonly CounterMethod[] = [
  ...(['add', 'add', 'add', 'subtract', 'subtract', 'trySet'] as const),
  ...(['compareAndSet', 'compareAndSet', 'forceSet', 'initialize'] as const),
];
const OF_A_COUNT = [...METHODS, ...(['trySetCount', 'trySetCount', 'setCount'] as const)];
const REPEATABLE: readonly CounterMethod[] = ['forceSet', 'setCount'];

/** Uses a number as clients do, at random; each change adds or sets a number of its own. */
export class CounterUser {
  readonly #counter: Counter;
  #seen = 0;

  constructor(private readonly options: CounterUserOptions) {
    const { client, judge, dice, follower } = options;
    const policy = () => new RetryNTimes(dice.integer(0, 3), dice.pick([0, 5, 40]));
    const inside = { retryPolicy: policy(), wait: dice.pick([100, 'forever'] as const) };
    const how = { retryPolicy: policy(), promotedToLock: dice.chance(0.7) && inside };
    this.#counter = follower
      ? client.locks.atomicInteger(judge.path, how)
      : client.locks.atomicLong(judge.path, how);
  }

  async live(until: number): Promise<void> {
    const { client, dice } = this.options;
    while (client.closedAt === undefined && client.process.now() < until) {
      await client.sleep(dice.time(dice.pick([0, 50, 300, 1_000])));
      if (dice.chance(0.2)) await Promise.all([this.#change(), this.#change()]);
      else await (dice.chance(0.2) ? this.#read() : this.#change());
    }
  }

  async #read(): Promise<void> {
    const { client, judge } = this.options;
    const since = client.process.now();
    const value = await this.#counter.get().catch(() => undefined); // no answer in time, or closed
    if (value === undefined) return;
    judge.read(BigInt(value), since);
    this.#seen = Number(value);
  }

  async #change(): Promise<void> {
    const { judge, client, dice, follower } = this.options;
    const method = dice.pick(follower ? OF_A_COUNT : METHODS);
    const unit = follower ? 1 : UNIT;
    const call = counterCall(method, {
      counter: this.#counter,
      count: follower?.count,
      seen: this.#seen,
      delta: unit * (dice.integer(0, 999) * IDS + judge.nextId), // no sum of others, as far as randomness permits
      value: unit * APART * judge.nextId,
    });
    const isRepeatable = REPEATABLE.includes(method);
    const change = judge.began({ what: method, client, makes: call.makes, isRepeatable });
    try {
      const outcome = await call.run();
      if (typeof outcome === 'object') {
        judge.ended(change, outcome);
        this.#seen = Number(outcome.postValue);
      } else if (outcome === false) judge.denied(change);
      else judge.confirmed(change);
    } catch (error) {
      judge.failed(change, error);
    }
  }
}

export type CounterMethod = Exclude<keyof Counter, 'get'> | 'trySetCount' | 'setCount';

/** One way to change a number. */
export interface CounterCall {
  readonly makes: Change['makes'];
  /** Its result: the values before and after; only whether it was made; or nothing except that it was made. */
  run(): Promise<Outcome | boolean | void>;
}

export interface CounterCallOptions {
  readonly counter: Counter;
  /** The same number as a shared count, where it has 32 bits. */
  readonly count?: SharedCount;
  /** What the number was when the user last saw it. */
  readonly seen: number;
  /** Unique: no two calls add it, or set it. */
  readonly delta: number;
  readonly value: number;
}

/** @throws if it is a method of a shared count, and there is none */
export function counterCall(method: CounterMethod, options: CounterCallOptions): CounterCall {
  const { counter, count, seen, delta, value } = options;
  const adds = (before = 0n, now: bigint) => now - before === BigInt(delta);
  const takesAway = (before = 0n, now: bigint) => before - now === BigInt(delta);
  const sets = (_: unknown, now: bigint) => now === BigInt(value);
  const replaces = (expected: number) => (before: bigint | undefined, now: bigint) =>
    before === BigInt(expected) && now === BigInt(value);
  const begins = (before: bigint | undefined, now: bigint) =>
    before === undefined && now === BigInt(value);
  switch (method) {
    case 'add':
      return { makes: adds, run: () => counter.add(delta) };
    case 'subtract':
      return { makes: takesAway, run: () => counter.subtract(delta) };
    case 'trySet':
      return { makes: sets, run: () => counter.trySet(value) };
    case 'compareAndSet':
      return { makes: replaces(seen), run: () => counter.compareAndSet(seen, value) };
    case 'forceSet':
      return { makes: sets, run: () => counter.forceSet(value) };
    case 'initialize':
      return { makes: begins, run: () => counter.initialize(value) };
    case 'trySetCount': {
      const previous = count!.versionedCount;
      return { makes: replaces(previous.value), run: () => count!.trySetCount(value, previous) };
    }
    case 'setCount':
      return { makes: sets, run: () => count!.setCount(value) };
  }
}
