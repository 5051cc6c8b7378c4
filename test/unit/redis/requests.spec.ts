import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError, LockKeyError } from '../../../lib/core/errors/index.js';
import { LockName } from '../../../lib/redis/connection/lock-name.js';
import type { RecipeContext } from '../../../lib/redis/recipes/recipe-context.js';
import { GuaranteedRelease } from '../../../lib/redis/recipes/guaranteed-release.js';
import { Requests } from '../../../lib/redis/recipes/requests.js';
import { semaphoreChange } from '../../../lib/redis/scripts/semaphore-change.js';
import { isSettled } from '../../support/is-settled.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { connectionOf } from './connection-of.js';
import { FakeNode, type SentCommand } from './fake-node.js';

const NAME = /^interlock_request:\{seats\}:[0-9a-f]{16}$/;

describe('A request', () => {
  let node: FakeNode;
  let requests: Requests;
  let clock: VirtualClock;
  let releases: GuaranteedRelease;

  beforeEach(() => {
    node = new FakeNode();
    clock = new VirtualClock();
    const connection = connectionOf(node, clock);
    releases = new GuaranteedRelease(connection, clock, () => {});
    const context: Partial<RecipeContext> = { connection, clock, releases, connectTimeout: 1_000 };
    requests = new Requests(context as RecipeContext, new LockName('seats'), {
      key: 'seats',
      client: 'test',
    });
  });

  it('has a name of its own, in the slot of its key', () => {
    const names = Array.from({ length: 100 }, () => requests.next());
    for (const name of names) expect(name).toMatch(NAME);
    expect(new Set(names).size).toBe(100);
  });

  it('is sent with its name behind the keys, and forgotten by the server once it is answered', async () => {
    node.reply = () => '7';
    expect(await requests.run(semaphoreChange, ['seats', 'channel'], ['publish', 'add'])).toBe(7);
    const [sent, forgotten] = node.sent;
    expect(sent!.args).toEqual([
      semaphoreChange.sha1,
      3,
      'seats',
      'channel',
      expect.stringMatching(NAME),
      'publish',
      'add',
    ]);
    expect([forgotten!.name, ...forgotten!.args]).toEqual(['del', sent!.args[4]]);
  });

  it('is forgotten before its client has closed', async () => {
    const answered = requests.run(semaphoreChange, ['seats'], []);
    node.last.answer(1);
    await answered;
    const drained = releases.drained();
    expect(await isSettled(drained)).toBe(false);
    node.last.answer(1);
    await drained;
  });

  it('is answered although it is not forgotten', async () => {
    const answered = requests.run(semaphoreChange, ['seats'], []);
    node.last.answer(1);
    expect(await answered).toBe(1);
    node.last.fail();
    await releases.drained();
  });

  it.each([
    ['WRONGTYPE Operation against a key holding the wrong kind of value', LockKeyError],
    ['NOPERM this user has no permissions', LockConnectionError],
  ])('that is refused with %p is told as our error, and not forgotten', async (message, error) => {
    const refused = requests.run(semaphoreChange, ['seats'], []);
    node.last.refuse(message);
    await expect(refused).rejects.toBeInstanceOf(error);
    await expect(refused).rejects.toMatchObject({ key: 'seats', client: 'test' });
    expect(node.sent).toHaveLength(1);
  });

  it('that has no answer is sent again under the same name: it may have been carried out', async () => {
    const answered = requests.run(semaphoreChange, ['seats'], []);
    const { args } = node.last;
    node.last.fail();
    await clock.advance(200);
    expect(node.sent).toHaveLength(2);
    expect(node.last.args).toEqual(args);
    node.last.answer(1);
    expect(await answered).toBe(1);
  });

  it.each([
    ['fails again and again', (command: SentCommand) => void command.fail()],
    ['has no answer', () => undefined],
  ])('that %s for all of the connectTimeout has an unknown outcome', async (_, reply) => {
    node.reply = reply;
    const failed = requests.run(semaphoreChange, ['seats'], []).catch((error: Error) => error);
    await clock.advance(1_000);
    const error = await failed;
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({
      message: expect.stringContaining('the outcome is unknown'),
      key: 'seats',
      client: 'test',
    });
    expect(node.sent.every(({ name }) => name === 'evalsha')).toBe(true); // and it is not forgotten
    expect(clock.isIdle).toBe(true);
  });

  it('has the last failure as the cause of its unknown outcome', async () => {
    node.reply = (command) => void command.fail();
    const failed = requests.run(semaphoreChange, ['seats'], []).catch((error: Error) => error);
    await clock.advance(1_000);
    expect(await failed).toMatchObject({ cause: { message: 'Connection is closed.' } });
  });

  it('of which a copy may follow, since the connection broke before the answer, is not forgotten', async () => {
    const answered = requests.run(semaphoreChange, ['seats'], []);
    node.becomes('close');
    node.last.answer(1);
    expect(await answered).toBe(1);
    await clock.advance(1_000);
    expect(node.sent.map(({ name }) => name)).toEqual(['evalsha']);
  });

  it('that was sent after the connection broke is forgotten', async () => {
    node.becomes('close');
    node.becomes('ready');
    const answered = requests.run(semaphoreChange, ['seats'], []);
    node.last.answer(1);
    expect(await answered).toBe(1);
    expect(node.last.name).toBe('del');
  });
});
