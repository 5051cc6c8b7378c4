import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { LockTimeoutError } from '../../core/errors/index.js';
import type { ContractRunner } from './contract-runner.js';
import type { ContractStage } from './contract-stage.js';

/** What a client tells its listeners and its operators. */
export function mutexEventsContract({ it }: ContractRunner, stage: () => ContractStage): void {
  it('for each step of whoever waits, and none for re-entry', async () => {
    const { mine, key } = stage();
    const story: string[] = [];
    for (const event of ['contended', 'acquired', 'released', 'failed'] as const)
      mine.on(event, (lock) => void (lock.key === key && story.push(`${lock.method} ${event}`)));
    const first = await stage().take(mine.mutex(key), { method: 'first' });
    await first.run(async () => await (await stage().take(mine.mutex(key))).release());
    const hasty = mine.mutex(key).acquire({ wait: 20, method: 'hasty' });
    await stage().soon('the wait ends', rejects(hasty, LockTimeoutError));
    const { lease } = await stage().queue(mine, mine.mutex(key), { method: 'second' });
    await first.release();
    await (await stage().soon('the waiter is granted it', lease)).release();
    const ofEach = (who: string) => story.filter((line) => line.startsWith(who));
    deepEqual(ofEach('first'), ['first acquired', 'first released']);
    equal(ofEach('hasty').at(-1), 'hasty failed');
    deepEqual(ofEach('second'), ['second contended', 'second acquired', 'second released']);
    equal(ofEach('undefined').length, 0);
  });

  it('until a listener is removed', async () => {
    const { mine, key } = stage();
    let heard = 0;
    const stop = mine.on('acquired', () => (heard += 1));
    await mine.mutex(key).using(() => {});
    stop();
    await mine.mutex(key).using(() => {});
    equal(heard, 1);
  });

  it('and shows who holds and who waits', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key), { method: 'holder' });
    const { lease: next } = await stage().queue(mine, mine.mutex(key), { method: 'waiter' });
    const shown = mine.activity().map(({ state, method }) => `${method} ${state}`);
    deepEqual(shown.sort(), ['holder held', 'waiter waiting']);
    const { health, held, waiting } = mine.status();
    deepEqual([health, held, waiting], ['up', 1, 1]);
    ok((await mine.ping()) >= 0);
    await lease.release();
    await (await stage().soon('the waiter is granted it', next)).release();
    deepEqual(mine.activity(), []);
  });
}
