import { beforeEach, describe, expect, it } from '@jest/globals';
import { DelayedWatches } from '../../../lib/zookeeper/locks/delayed-watches.js';
import { VirtualClock } from '../../support/time.js';

describe('Holds that last', () => {
  let clock: VirtualClock;
  let holds: DelayedWatches;
  let watched: string[];

  beforeEach(() => {
    clock = new VirtualClock();
    holds = new DelayedWatches(clock, 100);
    watched = [];
  });

  /** Returns the end of the hold. */
  function begin(name: string): () => void {
    const watch = () => watched.push(`${name} at ${clock.now()}`);
    return holds.add({ grantedAt: clock.now(), watch });
  }

  it('are watched when their time has come, each once', async () => {
    begin('first');
    await clock.advance(30);
    begin('second');
    begin('third');
    await clock.advance(1_000);
    expect(watched).toEqual(['first at 100', 'second at 130', 'third at 130']);
  });

  it('are not watched when they end before', async () => {
    const end = begin('short');
    await clock.advance(99);
    end();
    begin('next');
    await clock.advance(99);
    expect(watched).toEqual([]);
    await clock.advance(1);
    expect(watched).toEqual(['next at 199']);
  });

  it('need no timer when there are none', async () => {
    begin('short')();
    await clock.advance(100);
    expect(clock.isIdle).toBe(true);
    begin('later');
    await clock.advance(100);
    expect(watched).toEqual(['later at 200']);
  });

  it('are watched at once when they have lasted long enough before they were handed on', async () => {
    await clock.advance(500);
    const end = holds.add({ grantedAt: 399, watch: () => watched.push('at once') });
    holds.add({ grantedAt: 400, watch: () => watched.push('later') });
    expect(watched).toEqual(['at once']);
    end();
    await clock.advance(100);
    expect(watched).toEqual(['at once', 'later']);
  });
});
