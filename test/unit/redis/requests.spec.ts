import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError, LockKeyError } from '../../../lib/core/errors/index.js';
import { LockName } from '../../../lib/redis/connection/lock-name.js';
import { GuaranteedRelease } from '../../../lib/redis/locks/guaranteed-release.js';
import { IdempotentRequests } from '../../../lib/redis/locks/idempotent-requests.js';
import { MEMORY, RequestRecords } from '../../../lib/redis/connection/request-numbers.js';
import type { RecipeContext } from '../../../lib/redis/recipe-context.js';
import { lockRelease, semaphoreChange } from '../../../lib/redis/scripts/index.js';
import { Deferred, isSettled, VirtualClock } from '../../support/time.js';
import { connectionOf, FakeNode, type SentCommand } from './fakes.js';

const COMMAND = { script: lockRelease, keys: ['door'], args: ['holder', 'publish'] };
const END = 30_000;

describe('A release', () => {
  let clock: VirtualClock;
  let node: FakeNode;
  let refusals: string[];
  let releases: GuaranteedRelease;

  beforeEach(() => {
    clock = new VirtualClock();
    node = new FakeNode();
    refusals = [];
    const refused = ({ message }: Error) => void refusals.push(message);
    releases = new GuaranteedRelease(connectionOf(node, clock), clock, refused);
  });

  it('resolves to its answer', async () => {
    const released = releases.run(COMMAND, END);
    await clock.advance(0);
    node.last.answer(3);
    expect(await released).toBe(3);
    expect(clock.isIdle).toBe(true);
  });

  it('that has no answer delays its caller for a second at most, and goes on', async () => {
    const released = releases.run(COMMAND, END);
    await clock.advance(999);
    expect(await isSettled(released)).toBe(false);
    await clock.advance(1);
    expect(await released).toBeUndefined();
    const drained = releases.drained();
    expect(await isSettled(drained)).toBe(false);
    node.last.answer(0);
    await drained;
  });

  it('without a connection does not delay its caller, and is sent nevertheless', async () => {
    node.status = 'reconnecting';
    expect(await releases.run(COMMAND, END)).toBeUndefined();
    expect(node.sent).toHaveLength(1);
    node.last.answer(0);
    await releases.drained();
  });

  it('that fails is sent again, until it is answered', async () => {
    const released = releases.run(COMMAND, END);
    for (let failed = 1; failed <= 3; failed++) {
      await clock.runUntil(() => node.sent.length === failed, 1_000);
      node.last.fail();
    }
    await clock.runUntil(() => node.sent.length === 4, 1_000);
    node.last.answer(1);
    expect(await released).toBe(1);
  });

  it('that fails is sent no more when the lease is over anyway', async () => {
    node.reply = (command) => command.fail();
    await clock.runUntil(releases.run(COMMAND, END));
    await clock.runUntil(releases.drained(), END + 1_000);
    expect(clock.now()).toBeGreaterThanOrEqual(END);
    expect([clock.isIdle, refusals]).toEqual([true, []]);
  });

  it('that is refused is reported once, and not sent again', async () => {
    node.reply = (command) => command.refuse('NOPERM');
    expect(await releases.run(COMMAND, END)).toBeUndefined();
    await clock.advance(END);
    expect([node.sent.length, refusals]).toEqual([1, ['NOPERM']]);
  });

  it('of a key that is no lock any more is done', async () => {
    node.reply = (command) => command.refuse('WRONGTYPE Operation against a key');
    expect(await releases.run(COMMAND, END)).toBeUndefined();
    expect([node.sent.length, refusals]).toEqual([1, []]);
  });

  it('waits for what must not come after it, and does not delay its caller for that', async () => {
    const acquire = new Deferred();
    expect(
      await releases.run(
        acquire.promise.then(() => COMMAND),
        END,
      ),
    ).toBeUndefined();
    await clock.advance(5_000);
    expect(node.sent).toEqual([]);
    acquire.resolve();
    await clock.advance(0);
    expect(node.sent).toHaveLength(1);
    node.last.answer(1);
    await releases.drained();
  });

  it('is not sent again after the end of its client', async () => {
    const released = releases.run(COMMAND, END);
    await clock.advance(0);
    releases.close();
    node.last.fail();
    expect(await released).toBeUndefined();
    await clock.advance(END);
    expect(node.sent).toHaveLength(1);
  });
});

const RECORD = /^interlock_requests:\{seats\}:[0-9a-f-]{36}$/;
const CONNECT_TIMEOUT = 1_000;

describe('A request', () => {
  let node: FakeNode;
  let records: RequestRecords;
  let requests: IdempotentRequests;
  let clock: VirtualClock;

  beforeEach(() => {
    node = new FakeNode();
    clock = new VirtualClock();
    records = new RequestRecords();
    requests = of('seats');
  });

  function of(key: string): IdempotentRequests {
    const context: Partial<RecipeContext> = {
      connection: connectionOf(node, clock),
      clock,
      requests: records,
      connectTimeout: CONNECT_TIMEOUT,
    };
    return new IdempotentRequests(context as RecipeContext, new LockName(key), {
      key,
      client: 'test',
    });
  }

  const change = (to = requests) => to.run(semaphoreChange, ['seats'], ['add']);
  /** Its record, number, and the number below which everything is settled. */
  const termsOf = ({ args }: SentCommand) => args.slice(3, 6);

  it('is sent with the record of its client behind the keys, and its number before the arguments', async () => {
    node.reply = () => '7';
    expect(await requests.run(semaphoreChange, ['seats', 'more'], ['add', 2])).toBe(7);
    const { args } = node.last;
    const record = expect.stringMatching(RECORD);
    expect(args).toEqual([
      semaphoreChange.sha1,
      3,
      ...['seats', 'more', record],
      ...[1, 1, MEMORY],
      ...['add', 2],
    ]);
    expect(node.sent).toHaveLength(1); // nothing is deleted: a copy may arrive at any time
  });

  it('is remembered for longer than a kernel goes on sending', () => {
    expect(MEMORY).toBeGreaterThan(15.4 * 60_000);
  });

  it('has a record for all of its client about that key, and another one for another client', async () => {
    node.reply = () => 1;
    await change();
    await change(of('seats'));
    records = new RequestRecords();
    await change(of('seats'));
    const [mine, again, theirs] = node.sent.map((command) => termsOf(command)[0]);
    expect(again).toBe(mine);
    expect(theirs).not.toBe(mine);
  });

  it('has a number of its own, and says below which all are settled', async () => {
    const answers = [change(), change(), change()];
    expect(node.sent.map(numbersOf)).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    const [first, second] = node.sent;
    second!.answer(1);
    await answers[1];
    void change();
    expect(numbersOf(node.last)).toEqual([4, 1]); // the first may be sent again yet
    first!.answer(1);
    await answers[0];
    void change();
    expect(numbersOf(node.last)).toEqual([5, 3]);
  });

  it('that has no answer is sent again under the same number: it may have been carried out', async () => {
    const answered = change();
    const [record, number] = termsOf(node.last);
    node.last.fail();
    await clock.advance(200);
    expect(node.sent).toHaveLength(2);
    expect(termsOf(node.last)).toEqual([record, number, 1]);
    node.last.answer(1);
    expect(await answered).toBe(1);
  });

  it.each([
    ['WRONGTYPE Operation against a key holding the wrong kind of value', LockKeyError],
    ['NOPERM this user has no permissions', LockConnectionError],
  ])('that is refused with %p is reported as our error, and settled', async (message, error) => {
    const refused = change();
    node.last.refuse(message);
    await expect(refused).rejects.toBeInstanceOf(error);
    await expect(refused).rejects.toMatchObject({ key: 'seats', client: 'test' });
    expect(node.sent).toHaveLength(1);
    void change();
    expect(numbersOf(node.last)).toEqual([2, 2]);
  });

  it.each([
    ['fails again and again', (command: SentCommand) => void command.fail()],
    ['has no answer', () => undefined],
  ])('that %s for all of the connectTimeout has an unknown outcome', async (_, reply) => {
    node.reply = reply;
    const failed = change().catch((error: Error) => error);
    await clock.advance(CONNECT_TIMEOUT);
    const error = await failed;
    expect(error).toBeInstanceOf(LockConnectionError);
    const message = expect.stringContaining('the outcome is unknown');
    expect(error).toMatchObject({ message, key: 'seats', client: 'test' });
    expect(clock.isIdle).toBe(true);
  });

  it('has the last failure as the cause of its unknown outcome', async () => {
    node.reply = (command) => void command.fail();
    const failed = change().catch((error: Error) => error);
    await clock.advance(CONNECT_TIMEOUT);
    expect(await failed).toMatchObject({ cause: { message: 'Connection is closed.' } });
  });

  it('of which the outcome is unknown counts as settled: a copy of it is refused once another one is carried out', async () => {
    const failed = change().catch((error: Error) => error);
    await clock.advance(CONNECT_TIMEOUT);
    await failed;
    void change();
    expect(numbersOf(node.last)).toEqual([2, 2]);
  });

  const numbersOf = (command: SentCommand) => termsOf(command).slice(1);
});
