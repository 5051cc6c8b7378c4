import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Clock } from '../../../lib/core/clock.js';
import { RenewalQueue } from '../../../lib/redis/connection/renewal-queue.js';
import type { Renewable } from '../../../lib/redis/connection/renewal-schedule.js';
import { Watchdog } from '../../../lib/redis/connection/watchdog.js';
import { slotOf } from '../../../lib/redis/connection/cluster-slots.js';
import { seededRandom } from '../../support/seeded-random.js';
import { VirtualClock } from '../../support/time.js';
import { connectionOf, FakeNode, type SentCommand } from './fakes.js';

const LEASE = 30_000;
const OVERDUE = `overdue at ${LEASE / 2 + 1}`;

/** A hold that records what it is notified of. */
class Held implements Renewable {
  readonly keys: readonly [string, string];
  kind: Renewable['kind'] = 'alone';
  period?: number;
  readonly told: (string | number)[] = [];
  deadline: number;

  constructor(
    readonly field: string | Buffer,
    private readonly clock: VirtualClock,
    public lease = LEASE,
    key = String(field),
  ) {
    this.keys = [key, key];
    this.deadline = clock.now() + lease;
  }

  renewed(sentAt: number, lease: number): void {
    if (lease > 0) this.deadline = sentAt + lease;
    this.told.push(lease);
  }

  gone(): void {
    this.told.push(`gone at ${this.clock.now()}`);
  }

  overdue(): void {
    this.told.push(`overdue at ${this.clock.now()}`);
  }

  expired(): void {
    this.told.push(`expired at ${this.clock.now()}`);
  }
}

/** The fields that a command renews. */
function fieldsOf({ args }: SentCommand): unknown[] {
  const keys = Number(args[1]);
  return args.slice(2 + keys).filter((_, i) => i % 5 === 0);
}

describe('Renewal', () => {
  let clock: VirtualClock;
  let node: FakeNode;
  let renewal: Watchdog;

  beforeEach(() => {
    clock = new VirtualClock();
    node = new FakeNode();
    renewal = new Watchdog(connectionOf(node, clock), clock, () => 0);
  });

  function hold(field = 'a', lease?: number, key?: string): Held {
    const held = new Held(field, clock, lease, key);
    renewal.add(held);
    return held;
  }

  const sent = (count: number) => clock.runUntil(() => node.sent.length === count);

  /** Answers what was sent last. */
  async function answer(value: number[]): Promise<void> {
    node.last.answer(value);
    await clock.advance(0);
  }

  const all = (command: SentCommand) => fieldsOf(command).map(() => 1);

  it('sends nothing in the first nine tenths of a third of the lease, and not later than that third', async () => {
    hold();
    await clock.advance(0.9 * (LEASE / 3) - 1);
    expect(node.sent).toEqual([]);
    await clock.advance(0.1 * (LEASE / 3) + 1);
    expect(node.sent.map(fieldsOf)).toEqual([['a']]);
    expect(node.last.args).toEqual([expect.any(String), 2, 'a', 'a', 'a', LEASE, 'alone', 0, 0]);
  });

  it('goes on for as long as the hold is there', async () => {
    node.reply = all;
    const held = hold();
    await clock.advance(10 * LEASE);
    expect(held.told.length).toBeGreaterThanOrEqual(30);
    expect(new Set(held.told)).toEqual(new Set([LEASE]));
    renewal.remove(held);
    expect(clock.isIdle).toBe(true);
  });

  it('that is overdue is reported once at half of the lease, and again after the next renewal', async () => {
    const held = hold();
    await clock.advance(LEASE / 2);
    expect(held.told).toEqual([]);
    await clock.advance(1);
    expect(held.told).toEqual([OVERDUE]);
    node.becomes('close');
    node.becomes('ready'); // all are due again
    await clock.advance(LEASE / 4);
    expect(held.told).toEqual([OVERDUE]);
    await answer([1]);
    expect(held.told).toEqual([OVERDUE, LEASE]);
    await clock.advance(LEASE);
    expect(held.told.slice(2)).toEqual([
      expect.stringMatching(/^overdue at/),
      expect.stringMatching(/^expired at/),
    ]);
    expect(clock.isIdle).toBe(true);
  });

  it('that is due after half of the lease, in a process that was blocked, is reported as overdue', async () => {
    const [held, gone] = [hold('a'), hold('b')];
    gone.deadline -= LEASE / 3;
    clock.stall(LEASE * 0.7);
    await clock.advance(0);
    expect(held.told).toEqual([`overdue at ${LEASE * 0.7}`]);
    expect(gone.told).toEqual([`expired at ${LEASE * 0.7}`]);
  });

  it('counts a lease from when the command was sent', async () => {
    const held = hold();
    await sent(1);
    const sentAt = clock.now();
    await clock.advance(5_000);
    await answer([1]);
    expect(held.deadline).toBe(sentAt + LEASE);
  });

  it('counts the lease that was sent, where the hold was given another meanwhile', async () => {
    const held = hold();
    await sent(1);
    held.lease = 60_000;
    await answer([1]);
    expect(held.told).toEqual([LEASE]);
  });

  it('puts those that come due together into one command, a hundred at most', async () => {
    for (let i = 0; i < 250; i++) hold(`hold ${i}`);
    await clock.advance(LEASE / 3);
    expect(node.sent.map((command) => fieldsOf(command).length)).toEqual([100, 100, 50]);
  });

  it('puts ten thousand permits at most into one command, unless one hold has more', async () => {
    for (const permits of [6_000, 4_000, 1, 10_000, 2, 20_000]) {
      const field = Buffer.alloc(16);
      field.writeUInt32BE(permits, 12);
      const held = new Held(field, clock, LEASE, 'permits');
      held.kind = 'permits';
      renewal.add(held);
    }
    hold('a mutex');
    await clock.advance(LEASE / 3);
    const permitsOf = (field: unknown) =>
      field === 'a mutex' ? field : (field as Buffer).readUInt32BE(12);
    expect(node.sent.map((command) => fieldsOf(command).map(permitsOf))).toEqual([
      [6_000, 4_000],
      [1],
      [10_000],
      [2],
      [20_000],
      ['a mutex'],
    ]);
  });

  it('puts leases of different lengths into one command, each with its own', async () => {
    hold('long', 3_000);
    await clock.advance(900);
    hold('short', 300);
    await sent(1);
    expect(node.last.args.slice(-10)).toEqual([
      ...['long', 3_000, 'alone', 0, 0],
      ...['short', 300, 'alone', 0, 0],
    ]);
  });

  it('sends to a cluster a command for each slot', async () => {
    const master = Object.assign(new FakeNode(), { isCluster: true, slots: [], nodes: () => [] });
    renewal = new Watchdog(connectionOf(master, clock), clock, () => 0);
    for (const key of ['{a}1', '{b}1', '{a}2', '{b}2']) hold(key);
    await clock.advance(LEASE / 3);
    expect(slotOf('{a}1')).not.toBe(slotOf('{b}1'));
    expect(master.sent.map(fieldsOf)).toEqual([
      ['{a}1', '{a}2'],
      ['{b}1', '{b}2'],
    ]);
  });

  it('sends one that has failed again, until it is answered', async () => {
    const held = hold();
    for (let failed = 1; failed <= 5; failed++) {
      await clock.runUntil(() => node.sent.length === failed, LEASE);
      node.last.fail();
    }
    await clock.runUntil(() => node.sent.length === 6, 200);
    await answer([1]);
    expect(held.told).toEqual([LEASE]);
  });

  it.each([
    ['is answered by nothing', () => {}],
    ['fails every time', (command: SentCommand) => command.fail()],
    ['is refused every time', (command: SentCommand) => command.refuse('NOPERM')],
  ])('that %s, loses the hold at its deadline, and is sent no more', async (_, end) => {
    node.reply = end;
    const held = hold();
    await clock.runUntil(() => held.told.length > 1);
    expect(held.told).toEqual([OVERDUE, `expired at ${LEASE}`]);
    const { length } = node.sent;
    await clock.advance(10 * LEASE);
    expect([node.sent.length, held.told.length, clock.isIdle]).toEqual([length, 2, true]);
  });

  it('that is answered after the deadline, revives nothing', async () => {
    const held = hold();
    await clock.advance(LEASE);
    expect(held.told).toEqual([OVERDUE, `expired at ${LEASE}`]);
    for (const command of node.sent) command.answer([1]);
    await clock.advance(10 * LEASE);
    expect(held.told).toHaveLength(2);
    expect(clock.isIdle).toBe(true);
  });

  it('that comes due after the deadline, in a process that was blocked, is not sent', async () => {
    const held = hold();
    clock.stall(LEASE);
    await clock.advance(0);
    expect(held.told).toEqual([`expired at ${LEASE}`]);
    expect(node.sent).toEqual([]);
  });

  it('reports a hold that the server has forgotten, and goes on with the others', async () => {
    const [one, two] = [hold('one'), hold('two')];
    await sent(1);
    const forgottenAt = clock.now();
    node.last.answer([0, 1]);
    await sent(2);
    expect(one.told).toEqual([`gone at ${forgottenAt}`]);
    expect(two.told).toEqual([LEASE]);
    expect(fieldsOf(node.last)).toEqual(['two']);
  });

  it('does not let one that is refused take the others with it', async () => {
    const [good, bad] = [hold('good'), hold('bad')];
    node.reply = (command) =>
      fieldsOf(command).includes('bad') ? command.refuse('NOPERM') : all(command);
    await clock.runUntil(() => bad.told.length > 1);
    expect(bad.told).toEqual([OVERDUE, `expired at ${LEASE}`]);
    expect(good.told).toContain(LEASE);
    await clock.advance(2 * LEASE);
    expect(good.deadline).toBeGreaterThan(clock.now());
  });

  it.each([
    ['by a server', (command: SentCommand) => command.refuse('TRYAGAIN Multiple keys request')],
    [
      'by a client that has asked often',
      (command: SentCommand) => command.exhaust('TRYAGAIN Multiple'),
    ],
    [
      'by a client that was sent from one to the other',
      (command: SentCommand) => command.exhaust('MOVED 16025 127.0.0.1:6381'),
    ],
  ])(
    'is sent for each by itself when a command with several keys is refused %s',
    async (_, refuse) => {
      const [one, two] = [hold('one'), hold('two')];
      node.reply = (command) => (fieldsOf(command).length > 1 ? refuse(command) : all(command));
      await clock.advance(5 * LEASE);
      expect(new Set([...one.told, ...two.told])).toEqual(new Set([LEASE]));
      expect(Math.min(one.deadline, two.deadline)).toBeGreaterThan(clock.now());
    },
  );

  it('of one that is refused in a slot under migration is sent again', async () => {
    const held = hold();
    await sent(1);
    node.last.refuse('TRYAGAIN Multiple keys request');
    await clock.runUntil(() => node.sent.length === 2, 200);
    await answer([1]);
    expect(held.told).toEqual([LEASE]);
  });

  it('does not touch a hold that was removed while its answer was on the way', async () => {
    const [kept, removed] = [hold('kept'), hold('removed')];
    await sent(1);
    renewal.remove(removed);
    await answer([1, 1]);
    expect([kept.told, removed.told]).toEqual([[LEASE], []]);
    await sent(2);
    expect(fieldsOf(node.last)).toEqual(['kept']);
  });

  it('does not send a hold again that was removed while it failed', async () => {
    const held = hold();
    await sent(1);
    node.last.fail();
    renewal.remove(held);
    await clock.advance(10 * LEASE);
    expect([node.sent.length, held.told, clock.isIdle]).toEqual([1, [], true]);
  });

  it('of all, after a reconnect, is sent soon, also where one is on the way', async () => {
    const [first, second] = [hold('first'), hold('second', 3 * LEASE)];
    await sent(1);
    node.becomes('close');
    node.becomes('ready');
    await clock.advance(0);
    expect(node.sent.map(fieldsOf)).toEqual([['first'], ['first'], ['second']]);
    node.sent[1]!.answer([1]);
    node.sent[2]!.answer([0]);
    await clock.advance(0);
    expect(first.told).toEqual([LEASE]);
    expect(second.told).toEqual([`gone at ${clock.now()}`]);
    renewal.remove(first);
    node.sent[0]!.answer([1]);
    await clock.advance(LEASE);
    expect([node.sent.length, first.told.length, clock.isIdle]).toEqual([3, 1, true]);
  });

  it('of few holds comes within 51 ms after a reconnect, whatever is left of the lease', async () => {
    renewal = new Watchdog(connectionOf(node, clock), clock, () => 0.999);
    const held = new Held('a', clock);
    renewal.add(held);
    held.deadline = 5_000; // a third of it is over before the first renewal
    renewal.add(held);
    clock.stall(1_000);
    node.becomes('ready');
    await clock.runUntil(() => node.sent.length === 1, 51);
  });

  describe('of a hold that is only asked for', () => {
    const PERIOD = 1_000;

    function asked(field = 'a'): Held {
      const held = new Held(field, clock, 0);
      held.period = PERIOD;
      held.deadline = 1_000 * LEASE;
      renewal.add(held);
      return held;
    }

    const runs = (count: number) =>
      clock.runUntil(() => node.sent.length === count, (count + 1) * PERIOD);

    it('changes no lease, and comes within each period, with those of others', async () => {
      node.reply = all;
      for (let i = 0; i < 250; i++) asked(`hold ${i}`);
      await clock.advance(10 * PERIOD);
      expect(node.sent.length).toBeGreaterThanOrEqual(30);
      expect(node.sent.length).toBeLessThanOrEqual(60);
      const leases = node.sent.flatMap(({ args }) =>
        args.slice(2 + Number(args[1])).filter((_, i) => i % 5 === 1),
      );
      expect(new Set(leases)).toEqual(new Set([0]));
    });

    it('leaves nothing behind when it is answered', async () => {
      const held = asked();
      node.reply = all;
      await clock.advance(10 * PERIOD);
      renewal.remove(held);
      expect([held.told.includes(0), clock.isIdle]).toEqual([true, true]);
    });

    it('goes on after one has failed, not before the next one is due', async () => {
      const held = asked();
      await runs(1);
      node.last.fail();
      await clock.advance(PERIOD / 2);
      expect(node.sent).toHaveLength(1);
      await runs(2);
      await answer([0]);
      expect([held.told, clock.isIdle]).toEqual([[`gone at ${clock.now()}`], true]);
    });

    it('that was removed while one failed, does not come again', async () => {
      const held = asked();
      await runs(1);
      renewal.remove(held);
      node.last.fail();
      await clock.advance(2 * PERIOD);
      expect([node.sent.length, clock.isIdle]).toEqual([1, true]);
    });

    it('does not put off the report of one beside it that is overdue', async () => {
      const renewed = hold();
      const beside = new Held('b', clock, 0);
      beside.period = LEASE / 3;
      beside.deadline = 1_000 * LEASE;
      renewal.add(beside);
      await sent(1);
      expect(fieldsOf(node.last)).toEqual(['a', 'b']);
      await clock.advance(LEASE / 2 + 1 - clock.now());
      expect([renewed.told, beside.told]).toEqual([[OVERDUE], []]);
    });

    it('comes soon after a reconnect, also where one is on the way', async () => {
      asked();
      await runs(1);
      node.becomes('close');
      node.becomes('ready');
      await clock.advance(0);
      expect(node.sent).toHaveLength(2);
      await answer([1]);
      node.becomes('close');
      node.becomes('ready');
      await clock.runUntil(() => node.sent.length === 3, 51);
    });

    it('does not end the wait for the answer to the renewals in the same command', async () => {
      const held = hold('renewed', 3 * PERIOD);
      const brief = new Held('brief', clock, 0);
      Object.assign(brief, { period: PERIOD, deadline: 1.5 * PERIOD });
      renewal.add(brief);
      await runs(1);
      expect(fieldsOf(node.last)).toEqual(['renewed', 'brief']);
      await clock.advance(PERIOD);
      await answer([1, 0]);
      expect(held.told).toContain(3 * PERIOD);
      expect(brief.told).toEqual([`expired at ${clock.now()}`]);
      expect(node.sent).toHaveLength(1);
    });

    it('is sent again for each by itself when one of them is refused', async () => {
      const [good, bad] = [asked('good'), asked('bad')];
      node.reply = (command) =>
        fieldsOf(command).includes('bad') ? command.refuse('NOPERM') : all(command);
      await runs(3);
      expect([good.told, bad.told]).toEqual([[0], []]);
    });
  });

  describe('of 150,000 holds that are due at once', () => {
    const MANY = 150_000;
    let held: Held[];

    beforeEach(() => {
      held = Array.from({ length: MANY }, (_, i) => hold(`hold ${i}`));
    });

    it('is sent in 32 commands at a time, after a cut too, and loses none', async () => {
      const open: SentCommand[] = [];
      let most = 0;
      node.reply = (command) => {
        most = Math.max(most, open.push(command));
      };
      node.becomes('close');
      node.becomes('ready');
      while (clock.now() < 1.2 * LEASE) {
        await clock.advance(10);
        for (const command of open.splice(0)) command.answer(all(command));
      }
      expect(most).toBe(32);
      expect(held.filter(({ told }) => told.some((what) => what !== LEASE))).toEqual([]);
      expect(Math.min(held[0]!.deadline, held[MANY - 1]!.deadline)).toBeGreaterThan(clock.now());
      expect(new Set(held.map(({ told }) => told.length >= 3))).toEqual(new Set([true]));
    }, 120_000); // seconds of work, of which a loaded machine makes a minute

    it('in a process that was blocked, loses few of them in one turn of the event loop', async () => {
      let [turn, isOver] = [0, false];
      const turns: number[] = [];
      const next = () => {
        turn += 1;
        if (!isOver) setImmediate(next);
      };
      next();
      for (const each of held) each.expired = () => void (turns[turn] = (turns[turn] ?? 0) + 1);
      clock.stall(LEASE);
      const lost = () => turns.reduce((sum, count) => sum + (count ?? 0), 0);
      await clock.runUntil(() => lost() === MANY);
      isOver = true;
      expect(Math.max(...turns.filter((count) => count > 0))).toBeLessThanOrEqual(1_600);
      expect(node.sent).toEqual([]);
    });

    it('that a dead server does not answer, ends in time for each', async () => {
      const late: number[] = [];
      for (const each of held) each.expired = () => void late.push(clock.now() - each.deadline);
      await clock.runUntil(() => late.length === MANY);
      expect(late.reduce((least, ms) => Math.min(least, ms))).toBeGreaterThanOrEqual(0);
      expect(late.reduce((most, ms) => Math.max(most, ms))).toBeLessThan(100);
      expect(node.sent.length).toBeLessThanOrEqual(32);
    });
  });

  it('of some is not put off by others that come due again and again', async () => {
    const slow: Clock = {
      now: () => clock.now(),
      setTimer: (fn, ms) => clock.setTimer(fn, Math.max(1, ms)), // as Node does
    };
    let begun = 0;
    const queue = new RenewalQueue(slow, async () => void (begun += 1));
    for (let i = 0; i < 200; i++) {
      queue.add([new Held(`${i}`, clock)]);
      await clock.advance(0.5);
    }
    expect(begun).toBeGreaterThan(150);
  });

  it('of a cluster waits only for the servers that answer', async () => {
    const slots = Array.from({ length: 16_384 }, (_, slot) => [
      slot === slotOf('{b}') ? 'b:1' : 'a:1',
    ]);
    const cluster = Object.assign(new FakeNode(), { isCluster: true, slots, nodes: () => [] });
    renewal = new Watchdog(connectionOf(cluster, clock), clock, () => 0);
    const living = hold('{b}');
    for (let i = 0; i < 100; i++) hold(`dead ${i}`, LEASE - 300);
    cluster.reply = (command) => (fieldsOf(command).includes('{b}') ? [1] : undefined);
    await clock.advance(LEASE / 3);
    expect(cluster.sent.length).toBe(33);
    expect(living.told).toEqual([LEASE]);
  });

  it('of many clients is spread again after all have lost their connections at once', async () => {
    const random = seededRandom(1);
    const [lease, clients] = [9_000, 100];
    const sentAt: number[] = [];
    const nodes = Array.from({ length: clients }, () => new FakeNode());
    for (const [i, each] of nodes.entries()) {
      each.reply = (command) => {
        sentAt.push(clock.now());
        return all(command);
      };
      const its = new Watchdog(connectionOf(each, clock), clock, random);
      for (let n = 0; n < 100; n++) its.add(new Held(`${i}:${n}`, clock, lease));
    }
    await clock.advance(lease);
    for (const each of nodes) each.becomes('close');
    for (const each of nodes) each.becomes('ready');
    const [from, to] = [clock.now() + lease, clock.now() + 4 * lease]; // from the third renewal on
    await clock.advance(4 * lease);
    const times = sentAt.filter((at) => at >= from && at < to - 400);
    const peak = Math.max(
      ...times.map((at) => times.filter((t) => t >= at && t < at + 400).length),
    );
    const mean = times.length / ((to - 400 - from) / 400);
    expect(peak / mean).toBeLessThan(3);
    expect(times.length).toBeLessThan(1.3 * clients * ((to - 400 - from) / (lease / 3)));
  });

  it('of one is sent at once, and settles as its command', async () => {
    const held = new Held('one', clock);
    const asked = renewal.renewOne(held);
    node.last.answer([0]);
    expect(await asked).toBe(false);
    const refused = expect(renewal.renewOne(held)).rejects.toThrow('NOPERM');
    node.last.refuse('NOPERM');
    await refused;
    expect([held.told, clock.isIdle]).toEqual([[], true]);
  });
});
