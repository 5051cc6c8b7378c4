import { beforeEach, describe, expect, it } from '@jest/globals';
import { GuaranteedRelease } from '../../../lib/redis/locks/guaranteed-release.js';
import { lockRelease } from '../../../lib/redis/scripts/index.js';
import { Deferred } from '../../support/deferred.js';
import { isSettled } from '../../support/is-settled.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { connectionOf } from './connection-of.js';
import { FakeNode } from './fake-node.js';

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
