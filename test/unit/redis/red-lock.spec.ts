import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { lockRenew } from '../../../lib/redis/scripts/index.js';
import type { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import { RedLockOnFakes, type SentCommand } from './fakes.js';

const TIMEOUT = 1_000;
const LEASE = 10_000;
/** What a clock that runs faster may take off: a hundredth, and 2 ms. */
const DRIFT = 102;
const GRANTED = [1, 0];
const TAKEN = [0, 5_000];

let fakes: RedLockOnFakes;
let client: RedLockClient;

beforeEach(async () => {
  ({ fakes, client } = await RedLockOnFakes.connect({ nodeTimeout: TIMEOUT }));
});

describe('A client of five servers that connects', () => {
  const LOADING = new Error('LOADING Redis is loading the dataset in memory');
  const NOAUTH = new Error('NOAUTH Authentication required.');
  const servers = () => client.status().servers;
  let warned: jest.SpiedFunction<typeof process.emitWarning>;

  beforeEach(() => {
    warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    ({ fakes, client } = RedLockOnFakes.make({ nodeTimeout: TIMEOUT }));
  });
  afterEach(() => {
    warned.mockRestore();
  });

  it('goes without two that refuse for now, and uses them when they are ready', async () => {
    fakes.says(1, LOADING);
    fakes.says(4, LOADING);
    await fakes.clock.runUntil(client.connect());
    await fakes.clock.advance(60_000);
    expect(servers()).toEqual({ connected: 3, total: 5 });
    fakes.says(1, 'PONG');
    fakes.says(4, 'PONG');
    await fakes.clock.runUntil(() => servers()!.connected === 5);
    expect(warned).not.toHaveBeenCalled();
    await fakes.clock.runUntil(client.close());
  });

  it('goes without two that refuse for good, and warns of them', async () => {
    fakes.says(1, NOAUTH);
    fakes.says(4, NOAUTH);
    for (let i = 0; i < 2; i++) await fakes.clock.runUntil(client.connect());
    expect(servers()).toEqual({ connected: 3, total: 5 });
    expect(warned.mock.calls).toEqual(
      [2, 5].map((server) => [
        expect.stringContaining(`server ${server} of 5: ReplyError: NOAUTH`),
      ]),
    );
    await fakes.clock.runUntil(client.close());
  });

  it('rejects at once when three refuse for good, with the reason', async () => {
    for (const server of [0, 1, 4]) fakes.says(server, NOAUTH);
    const refused = expect(client.connect()).rejects.toThrow(
      /could not connect to 3 of its 5 Redis servers \(server \d of 5: ReplyError: NOAUTH/,
    );
    await fakes.clock.runUntil(refused);
    expect(fakes.clock.now()).toBe(0);
  });

  it('rejects in the end while three refuse for now, with the reason', async () => {
    for (const server of [0, 1, 4]) fakes.says(server, LOADING);
    const refused = expect(client.connect()).rejects.toThrow(
      /could not connect to 3 of its 5 Redis servers within 15000 ms \(server \d of 5: LOADING/,
    );
    await fakes.clock.runUntil(refused);
    expect(fakes.clock.now()).toBe(15_000);
  });
});

describe('The validity of a lock on five servers', () => {
  const answer = (value: unknown, asked = fakes.asked) => asked.forEach((it) => it.answer(value));

  /** An acquire that is granted by all of the servers but for the first so many, after so long. */
  async function granted({ but = 0, after = 0 } = {}) {
    const acquired = client.mutex('key').acquire({ lease: LEASE });
    await fakes.clock.advance(after);
    const silent = fakes.asked.slice(0, but);
    answer(GRANTED, fakes.asked.slice(but));
    return { lease: await fakes.clock.runUntil(acquired), silent };
  }

  it('is the lease less what the answers took, and less the drift', async () => {
    const { lease } = await granted({ after: 400 });
    expect(lease.remaining()).toBe(LEASE - DRIFT - 400);
    await fakes.clock.advance(LEASE - DRIFT - 401);
    expect([lease.isHeld, lease.remaining()]).toEqual([true, 1]);
    await fakes.clock.advance(1);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
  });

  it('ends by the clock, although the timers are late', async () => {
    const { lease } = await granted();
    fakes.clock.stall(LEASE - DRIFT);
    expect([lease.isHeld, lease.remaining()]).toEqual([false, 0]);
  });

  it('needs three grants: two, with three refusals, are released at once', async () => {
    const acquired = client.mutex('key').tryAcquire({ lease: LEASE });
    await fakes.clock.advance(0);
    fakes.asked.forEach((asked, i) => asked.answer(i < 2 ? GRANTED : TAKEN));
    expect(await fakes.clock.runUntil(acquired)).toBeUndefined();
    const sent = fakes.nodes.map(
      (node) => node.sent.filter(({ name }) => name === 'evalsha').length,
    );
    expect(sent).toEqual([2, 2, 1, 1, 1]); // a release where it was granted
  });

  it('does not wait for the other two', async () => {
    const { lease } = await granted({ but: 2 });
    expect([lease.isHeld, fakes.clock.now()]).toEqual([true, 0]);
  });

  it('asks all five again after a release, also those that have not answered yet', async () => {
    const { lease, silent } = await granted({ but: 2 });
    const released = lease.release();
    await fakes.clock.advance(0);
    answer(1, fakes.asked.slice(2));
    await fakes.clock.runUntil(released);
    const trying = client.mutex('key').tryAcquire({ lease: LEASE });
    const tried = expect(trying).rejects.toMatchObject({ code: 'LOCK_KEY' });
    await fakes.clock.advance(0);
    const { asked } = fakes;
    expect(asked.slice(0, 2)).not.toEqual(silent);
    answer(GRANTED, asked.slice(3));
    for (const each of asked.slice(0, 3)) each.refuse('WRONGTYPE not a hash');
    await fakes.clock.runUntil(tried);
  });

  it('is kept for `atLeast` by servers that grant the lock after it was released', async () => {
    const { lease, silent } = await granted({ but: 2 });
    lease.hold.atLeast = 60_000;
    void lease.release();
    await fakes.clock.advance(0);
    answer(GRANTED, silent);
    await fakes.clock.advance(0);
    const [late] = fakes.asked;
    expect(late).not.toBe(silent[0]);
    const holder = expect.anything();
    const renewal = [lockRenew.sha1, 2, 'key', 'key', holder, 60_000, 'alone', 1, 1];
    expect(late!.args).toEqual(renewal);
  });

  it('is not there when the event loop stood still until the grants were over', async () => {
    const acquired = client.mutex('key').tryAcquire({ lease: LEASE });
    await fakes.clock.advance(0);
    const { asked } = fakes;
    answer(GRANTED, asked.slice(0, 2));
    await fakes.clock.advance(0);
    fakes.clock.stall(LEASE);
    answer(TAKEN, asked.slice(2));
    expect(await fakes.clock.runUntil(acquired.catch(() => undefined))).toBeUndefined();
  });

  /** How far the answer has come to the caller when the abort comes in between. */
  const STEPS = Array.from({ length: 40 }, (_, i) => i);

  it.each(STEPS)('leaves no grant that meets an abort after %i steps', async (steps) => {
    const controller = new AbortController();
    const acquired = client.mutex('key').acquire({ signal: controller.signal });
    const aborted = expect(acquired).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await fakes.clock.advance(0);
    answer(TAKEN);
    const gate = fakes.nodes[0]!;
    const before = gate.sent.length;
    await fakes.clock.runUntil(() => gate.sent.length > before);
    gate.last.answer(GRANTED);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    controller.abort();
    await aborted;
    await fakes.clock.advance(0);
    expect(gate.last.args).not.toEqual(gate.sent[before]!.args);
    expect(gate.sent.length).toBeGreaterThan(before + 1);
  });
});

describe('The leader of an election on five servers', () => {
  const election = () => client.leaderLatch('chair', { id: 'me' });
  /** The questions that were sent, one to each server that was asked. */
  const questions = (): SentCommand[] =>
    fakes.nodes.flatMap(({ sent }) => sent.filter(({ name }) => name === 'hgetall'));
  /** What the server of that number says when it knows `id` for the leader; on each the holder has another name. */
  const known = (id: string, server: number) => [
    `uuid-${server}:7`,
    '1',
    'nestjs-interlock',
    JSON.stringify({ host: 'web', pid: 1, method: id, since: 0 }),
  ];

  /** Each server says what the function returns for its number, or nothing. */
  function say(answerOf: (server: number) => unknown): void {
    for (const [server, question] of questions().entries()) {
      const answer = answerOf(server);
      if (answer !== undefined) question.answer(answer);
    }
  }

  it('is reported as soon as a majority knows, whatever the others do', async () => {
    const leader = election().leader();
    say((server) => (server > 1 ? known('you', server) : undefined));
    expect(await fakes.clock.runUntil(leader)).toEqual({ id: 'you', isLeader: true });
    expect([questions().length, fakes.clock.now()]).toEqual([5, 0]);
  });

  it('is not asked of servers that are not connected', async () => {
    for (const node of fakes.nodes.slice(3)) node.becomes('close');
    const participants = election().participants();
    expect(questions()).toHaveLength(3);
    say((server) => known('you', server));
    expect(await fakes.clock.runUntil(participants)).toEqual([{ id: 'you', isLeader: true }]);
  });

  it('is undefined where no majority says the same', async () => {
    const leader = election().leader();
    say((server) => (server === 4 ? [] : known(server < 2 ? 'you' : 'somebody else', server)));
    expect(await fakes.clock.runUntil(leader)).toBeUndefined();
  });

  it('is undefined where a majority knows of none, and the others say nothing in time', async () => {
    const leader = election().leader();
    say((server) => (server < 3 ? [] : undefined));
    expect(await fakes.clock.runUntil(leader)).toBeUndefined();
    expect([fakes.clock.now(), fakes.clock.isIdle]).toEqual([TIMEOUT, true]);
  });

  it('is refused when too few answer in time to know', async () => {
    const leader = election().leader();
    say((server) => (server < 2 ? known('you', server) : undefined));
    const refused = expect(leader).rejects.toThrow(/Fewer than 3 of the 5 servers/);
    await fakes.clock.advance(TIMEOUT);
    await refused;
    await expect(leader).rejects.toBeInstanceOf(LockConnectionError);
    await expect(leader).rejects.toMatchObject({ key: 'chair', client: 'test' });
  });

  it('is refused at once, with the reason, when too many of them refuse', async () => {
    const leader = election().leader();
    leader.catch(() => {});
    for (const question of questions().slice(0, 3)) question.refuse('WRONGTYPE not a hash');
    for (const question of questions().slice(3)) question.answer([]);
    await fakes.clock.advance(0);
    const cause = { message: 'WRONGTYPE not a hash' };
    await expect(leader).rejects.toMatchObject({ code: 'LOCK_CONNECTION', cause });
  });
});
