import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { type Clock, systemClock } from '../../../lib/core/clock.js';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import type { Renewable } from '../../../lib/redis/connection/renewal-schedule.js';
import { Watchdog } from '../../../lib/redis/connection/watchdog.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { HoldMirror } from '../../../lib/redis/renewal-worker/hold-mirror.js';
import type { HoldCopy, MirrorMessage } from '../../../lib/redis/renewal-worker/messages.js';
import { SignOfLife } from '../../../lib/core/worker/sign-of-life.js';
import { StandbyRenewal } from '../../../lib/redis/renewal-worker/standby-renewal.js';
import { clockOf, threadTime } from '../../../lib/core/worker/thread-clock.js';
import { newPermitHolder } from '../../../lib/redis/semaphores/permit-holder.js';
import { VirtualClock } from '../../support/time.js';
import { connectionOf, FakeNode } from './fakes.js';

const LEASE = 30_000;
const BEAT = 250;
const MAX_STALL = 60_000;
const PERMITS = Buffer.from(newPermitHolder(2), 'hex');

describe('The option `renewalWorker`', () => {
  const create = (options: object, renewalWorker: unknown = { maxStall: MAX_STALL }) =>
    createRedisLockClient('unit', { renewalWorker, ...options } as RedisLockOptions);
  const connect = 'redis://localhost';

  it.each<[object, unknown?]>([
    [{ connect }],
    [{ connect: { host: 'redis-1', tls: { ca: Buffer.from('pem') } } }],
    [{ connect, driver: 'node-redis' }],
    [{ cluster: { nodes: ['redis-1:7000'] } }],
    [{ connect, watchdogTimeout: 1_500 }, { maxStall: 1_500 }],
    [{ connect }, { maxStall: 2 ** 31 - 1 }],
  ])('may be given with %j', async (...given) => {
    await (await create(...given)).close();
  });

  it.each<[object, unknown, string, RegExp]>([
    [{ connect }, true, 'renewalWorker', /an object: \{ maxStall: 60_000 \}/],
    [{ connect }, null, 'renewalWorker', /an object/],
    [{ connect }, {}, 'renewalWorker.maxStall', /`watchdogTimeout`, 30000, to 2\^31 - 1/],
    [{ connect }, { maxStall: 29_999 }, 'renewalWorker.maxStall', /is 29999/],
    [{ connect }, { maxStall: 2 ** 31 }, 'renewalWorker.maxStall', /2\^31 - 1/],
    [{ connect }, { maxStall: NaN }, 'renewalWorker.maxStall', /NaN/],
    [{ connect }, { maxStall: '60000' }, 'renewalWorker.maxStall', /60000/],
    [{ connect }, { maxstall: MAX_STALL }, 'maxstall', /`maxStall`/],
    [
      { client: new FakeNode() },
      { maxStall: MAX_STALL },
      'renewalWorker',
      /`connect` or `cluster`/,
    ],
    [
      { nodes: ['redis://a', 'redis://b', 'redis://c'] },
      { maxStall: MAX_STALL },
      'renewalWorker',
      /given with `nodes`/,
    ],
    [
      { connect: { host: 'a', retryStrategy: () => 5 } },
      { maxStall: MAX_STALL },
      'renewalWorker',
      /without functions/,
    ],
    [
      { cluster: { nodes: ['a:7000'], options: { dnsLookup() {} } } },
      { maxStall: MAX_STALL },
      'renewalWorker',
      /cannot be copied/,
    ],
  ])('given with %p may not be %p', async (options, value, option, message) => {
    const error: unknown = await create(options, value).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({
      option,
      client: 'unit',
      message: expect.stringMatching(message),
    });
  });
});

describe('The clock of another thread', () => {
  it('shows the same time', async () => {
    const ahead: Clock = {
      now: () => systemClock.now() + 12_345,
      setTimer: () => ({ cancel() {} }),
    };
    const copy = clockOf(threadTime(ahead), new SignOfLife());
    expect(Math.abs(copy.now() - ahead.now())).toBeLessThan(100);
    const { now } = copy;
    const before = [now(), ahead.now()];
    await new Promise<void>((resolve) => copy.setTimer(resolve, 5));
    expect(now() - before[0]!).toBeCloseTo(ahead.now() - before[1]!, -1);
  });

  it('has the sleep of the machine once that thread knows of it', () => {
    let slept = 60_000;
    const other: Clock = {
      now: () => systemClock.now() + slept,
      setTimer: () => ({ cancel() {} }),
      noticeSleep: () => slept,
    };
    const sign = new SignOfLife();
    sign.give(other);
    const copy = clockOf(threadTime(other), sign);
    expect(Math.abs(copy.now() - other.now())).toBeLessThan(100);
    slept += 3_600_000;
    expect(other.now() - copy.now()).toBeGreaterThan(3_599_000);
    sign.give(other);
    expect(Math.abs(copy.now() - other.now())).toBeLessThan(100);
    expect(Math.abs(copy.now() - sign.at)).toBeLessThan(100);
  });
});

describe('Renewal in another thread', () => {
  let clock: VirtualClock;
  let sign: SignOfLife;
  let nodes: FakeNode[];
  let confirmed: number[][];
  let failures: unknown[];
  let renewal: StandbyRenewal;
  /** What the server answers for each hold. */
  let isHeld: 0 | 1;

  const begin = (openingFails?: Error) =>
    new StandbyRenewal({
      clock,
      sign: new SignOfLife(sign.memory),
      watchdogTimeout: LEASE,
      maxStall: MAX_STALL,
      confirm: (renewals) => void confirmed.push([...renewals]),
      failed: (error) => void failures.push(error),
      async open() {
        if (openingFails) throw openingFails;
        const node = new FakeNode();
        node.reply = ({ name, args }) =>
          name === 'evalsha' ? Array(Number(args[1]) / 2).fill(isHeld) : undefined;
        nodes.push(node);
        return connectionOf(node, clock);
      },
    });

  beforeEach(async () => {
    clock = new VirtualClock();
    sign = new SignOfLife();
    nodes = [];
    confirmed = [];
    failures = [];
    isHeld = 1;
    renewal = begin();
    await clock.advance(0);
  });

  const copy = (id: number, changes: Partial<HoldCopy> = {}): HoldCopy => ({
    id,
    keys: [`lock ${id}`, `lock ${id}`],
    field: `holder ${id}`,
    kind: 'alone',
    lease: LEASE,
    extension: 0,
    endsAt: Infinity,
    ...changes,
  });
  const receive = (message: MirrorMessage) => renewal.receive(message);
  const sent = () => nodes.flatMap((node) => node.sent);

  /** The main thread lives for so long. */
  async function live(ms: number): Promise<void> {
    for (const end = clock.now() + ms; clock.now() < end;) {
      sign.give(clock);
      await clock.advance(BEAT);
    }
  }

  it.each([LEASE, 1_000])(
    'sends nothing while the main thread lives, with a lease of %i ms',
    async (lease) => {
      receive(copy(1, { lease }));
      await live(4 * LEASE);
      expect(sent()).toEqual([]);
    },
  );

  it('begins when there was no sign of life for a sixth of a lease, while half of it is left', async () => {
    receive(copy(1));
    receive(copy(2, { field: Uint8Array.from(PERMITS), kind: 'permits', extension: 3 }));
    await live(LEASE);
    const last = sign.at;
    await clock.runUntil(() => sent().length > 0);
    expect(clock.now() - last).toBeGreaterThanOrEqual(LEASE / 6);
    expect(clock.now() - last).toBeLessThanOrEqual(LEASE / 3 + 2 * BEAT);
    await clock.advance(0);
    const at = clock.now();
    expect(confirmed.flat()).toEqual([1, at, LEASE, 0, 2, at, LEASE, 3]);
    const { args } = sent()[0]!;
    expect(args).toContain('holder 1');
    expect((args as unknown[]).filter((arg) => Buffer.isBuffer(arg))).toEqual([PERMITS]);
  });

  it.each([2_000, 6_000])(
    'begins earlier where a lease of %i ms is held, which is at two thirds at the last sign of life',
    async (lease) => {
      receive(copy(1));
      receive(copy(2, { lease }));
      await live(LEASE);
      const last = sign.at;
      await clock.runUntil(() => sent().length > 0);
      expect(clock.now() - last).toBeGreaterThanOrEqual(2 * BEAT);
      expect(clock.now() - last).toBeLessThan((2 / 3) * lease - 2 * BEAT);
      expect(sent()[0]!.args).toContain('holder 2');
      expect(sent()[0]!.args).not.toContain('holder 1');
      await clock.advance(2 * lease);
      const all = confirmed.flat();
      const times = all.filter((_, i) => i % 4 === 1 && all[i - 1] === 2);
      expect(times.length).toBeGreaterThan(3);
      times.slice(1).forEach((time, i) => expect(time - times[i]!).toBeLessThanOrEqual(lease / 3));
    },
  );

  it('goes on within each third of the lease, until the next sign of life', async () => {
    receive(copy(1));
    await live(1_000);
    await clock.advance(MAX_STALL - 2_000);
    const times = confirmed.map(([, sentAt]) => sentAt!);
    expect(times.length).toBeGreaterThan(4);
    times.slice(1).forEach((time, i) => expect(time - times[i]!).toBeLessThanOrEqual(LEASE / 3));
    await live(BEAT); // it looks for a sign once a beat, and may renew before that
    const before = sent().length;
    await live(MAX_STALL);
    expect(sent()).toHaveLength(before);
  });

  it('ends `maxStall` after the last sign of life, and begins anew after the next one, on another connection', async () => {
    receive(copy(1));
    await live(1_000);
    const last = sign.at;
    await clock.advance(10 * MAX_STALL);
    expect(confirmed.at(-1)![1]).toBeLessThanOrEqual(last + MAX_STALL);
    expect(confirmed.at(-1)![1]).toBeGreaterThan(last + MAX_STALL - LEASE / 3);
    expect(nodes.map(({ status }) => status)).toEqual(['end']);
    const before = sent().length;
    await live(1_000);
    expect(nodes.map(({ status }) => status)).toEqual(['end', 'ready']);
    await clock.advance(LEASE / 2);
    expect(nodes[1]!.sent.length).toBeGreaterThan(0);
    expect(nodes[0]!.sent).toHaveLength(before);
  });

  it('sends nothing when it notices only after a pause that `maxStall` is over', async () => {
    for (let id = 0; id < 1_000; id++) receive(copy(id, { lease: LEASE + 30 * id })); // some are due at any time
    await live(1_000);
    await clock.advance(MAX_STALL - 5_000);
    const before = sent().length;
    expect(before).toBeGreaterThan(0);
    clock.stall(6_000);
    await clock.advance(LEASE);
    expect(sent()).toHaveLength(before);
  });

  it('renews nothing after a pause of the whole process in which the leases have run out', async () => {
    receive(copy(1));
    receive(copy(2, { lease: 4 * LEASE }));
    await live(1_000);
    clock.stall(LEASE + BEAT);
    await clock.advance(LEASE);
    expect(sent().length).toBeGreaterThan(0);
    expect(sent().filter(({ args }) => args.includes('holder 1'))).toEqual([]);
  });

  it('leaves out what is no longer registered', async () => {
    [1, 2].forEach((id) => receive(copy(id)));
    await live(1_000);
    receive(1);
    await clock.advance(LEASE);
    expect(confirmed.flatMap(([id]) => id)).not.toContain(1);
    const before = sent().length;
    receive(2);
    await clock.advance(LEASE);
    expect(sent()).toHaveLength(before);
  });

  it('asks once for what the server does not know', async () => {
    isHeld = 0;
    receive(copy(1));
    await clock.advance(MAX_STALL - 1);
    expect(sent()).toHaveLength(1);
    expect(confirmed).toEqual([]);
  });

  it('takes a message for a sign that the main thread lives', async () => {
    receive(copy(1));
    await clock.advance(LEASE / 2);
    const before = sent().length;
    expect(before).toBeGreaterThan(0);
    sign.give(clock);
    receive(copy(2));
    await clock.advance(LEASE / 6);
    expect(sent()).toHaveLength(before);
  });

  it('does not outlast a `maxHold`', async () => {
    receive(copy(1, { endsAt: LEASE }));
    await clock.advance(MAX_STALL - 1);
    expect(confirmed.length).toBeGreaterThan(0);
    expect(confirmed.at(-1)![1]).toBeLessThanOrEqual(LEASE);
  });

  it('reports that there is no connection, and goes on without one', async () => {
    const failure = new Error('no driver');
    renewal = begin(failure);
    receive(copy(1));
    await clock.advance(MAX_STALL);
    expect(failures).toEqual([failure]);
  });
});

/** A hold that notes what becomes of it. */
class Held implements Renewable {
  readonly keys = ['lock', 'lock'] as const;
  readonly kind = 'alone';
  readonly told: string[] = [];
  extension = 0;
  lease = LEASE;
  deadline: number;

  constructor(
    clock: VirtualClock,
    readonly field: string | Buffer = 'holder',
  ) {
    this.deadline = clock.now() + LEASE;
  }

  renewed(sentAt: number, lease: number): void {
    this.told.push(`renewed at ${sentAt}`);
    this.deadline = sentAt + lease;
  }

  gone(): void {
    this.told.push('gone');
  }

  expired(): void {
    this.told.push('expired');
  }
}

describe('The mirror of the registered holds', () => {
  let clock: VirtualClock;
  let channel: MessageChannel;
  let mirror: HoldMirror;
  let renewal: Watchdog;

  beforeEach(() => {
    clock = new VirtualClock();
    channel = new MessageChannel();
    mirror = new HoldMirror(clock, BEAT);
    renewal = new Watchdog(connectionOf(new FakeNode(), clock), clock, () => 0, mirror);
  });
  afterEach(async () => {
    mirror.close();
    const closed = once(channel.port2, 'close');
    channel.port2.close();
    await closed;
  });

  /** What the worker has received. */
  const received = (): MirrorMessage[] => {
    const messages: MirrorMessage[] = [];
    for (let next; (next = receiveMessageOnPort(channel.port2));) messages.push(next.message);
    return messages;
  };
  const confirm = (...numbers: number[]) => channel.port2.postMessage(numbers);

  it('shows the worker what is registered, before and after it has started, what changes, and what is no longer', () => {
    const [first, second] = [new Held(clock), new Held(clock, Buffer.from('permits'))];
    renewal.add(first);
    mirror.open(channel.port1);
    renewal.add(second);
    first.lease = 5_000;
    first.extension = 1;
    renewal.add(first);
    renewal.remove(second);
    const [one, two, changed, removed, ...others] = received();
    expect(one).toMatchObject({ id: 1, field: 'holder', lease: LEASE, extension: 0 });
    expect(two).toMatchObject({ id: 2, endsAt: Infinity });
    expect(String(Buffer.from((two as HoldCopy).field))).toBe('permits');
    expect(((two as HoldCopy).field as Uint8Array).buffer.byteLength).toBe('permits'.length);
    expect(changed).toMatchObject({ id: 1, lease: 5_000, extension: 1 });
    expect(removed).toBe(2);
    expect(others).toEqual([]);
  });

  it('does not show what is only asked for, and needs no other thread', async () => {
    mirror.open(channel.port1);
    const held = Object.assign(new Held(clock), { lease: 0, period: BEAT });
    renewal.add(held);
    renewal.remove(held);
    expect([received(), clock.isIdle]).toEqual([[], true]);
  });

  it('shows signs of life while a hold is registered, not when none is', async () => {
    mirror.open(channel.port1);
    expect(clock.isIdle).toBe(true);
    const held = new Held(clock);
    renewal.add(held);
    for (let i = 0; i < 8; i++) {
      await clock.advance(BEAT);
      expect(clock.now() - mirror.sign.at).toBe(0);
    }
    clock.stall(3_000);
    expect(clock.now() - mirror.sign.at).toBe(3_000);
    renewal.remove(held);
    await clock.advance(2 * BEAT);
    expect(clock.isIdle).toBe(true);
  });

  it('takes over what the worker has renewed in a stall, before a hold counts as lost', async () => {
    mirror.open(channel.port1);
    const [kept, lost] = [new Held(clock), new Held(clock)];
    renewal.add(kept);
    renewal.add(lost);
    await clock.advance(LEASE / 3 - 1); // they are renewed next, before the next sign of life
    clock.stall(2 * LEASE);
    confirm(1, 0.5 * LEASE, LEASE, 0);
    confirm(1, 1.4 * LEASE, LEASE, 0);
    await clock.advance(0);
    expect(kept.told).toEqual([`renewed at ${0.5 * LEASE}`, `renewed at ${1.4 * LEASE}`]);
    expect(lost.told).toEqual(['expired']);
    expect(received().slice(2)).toEqual([2]);
  });

  it('does not take over what leaves a gap, is of another lease, or of a hold that is no longer registered', () => {
    mirror.open(channel.port1);
    const [late, extended, lost] = [new Held(clock), new Held(clock), new Held(clock)];
    [late, extended, lost].forEach((held) => renewal.add(held));
    extended.extension = 1;
    renewal.remove(lost);
    clock.stall(2 * LEASE);
    confirm(1, LEASE, LEASE, 0, 2, 0.5 * LEASE, LEASE, 0, 3, 0.5 * LEASE, LEASE, 0);
    mirror.catchUp();
    expect([late, extended, lost].flatMap(({ told }) => told)).toEqual([]);
  });

  it('counts what was confirmed before the worker ended', () => {
    mirror.open(channel.port1);
    const held = new Held(clock);
    renewal.add(held);
    confirm(1, 10, LEASE, 0);
    mirror.close();
    expect(held.told).toEqual(['renewed at 10']);
    renewal.add(held); // without a worker
    renewal.remove(held);
  });
});
