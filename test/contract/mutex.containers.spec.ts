import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { collectingBackends } from './collecting-backends.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

describe.each(collectingBackends)('The directory of a mutex on %s', (_, makeBackend) => {
  const stage = onStage(async () => Stage.build(await makeBackend()));

  const isCollected = () =>
    eventually('it is collected', async () => !(await stage().stranger.exists(stage().path)));

  it('is collected when no client wants the lock any more (Curator: testContainerCleanup)', async () => {
    const { mine, theirs, key } = stage();
    await Promise.all([mine, theirs].map((client) => client.mutex(key).using(async () => {})));
    await isCollected();
    await using lease = await theirs.mutex(key).acquire();
    expect(lease.isHeld).toBe(true);
  });

  it('is not collected while the lock is held', async () => {
    const { mine, key, stranger, path } = stage();
    await using lease = await mine.mutex(key).acquire();
    await mine.mutex('another').using(async () => {});
    await eventually('another is', async () => !(await stranger.exists('/locks/another')));
    expect(await stranger.exists(path)).toBeDefined();
    expect(lease.isHeld).toBe(true);
  });

  it('counts from 0 again when it is made anew, but fencing tokens go on growing', async () => {
    const { mine, key } = stage();
    const grant = () =>
      mine.mutex(key).using(async (lease) => {
        const [node] = await stage().nodes();
        return { token: await lease.fencingToken(), counter: node!.slice(-10) };
      });
    const before = await grant();
    await isCollected();
    const after = await grant();
    expect([before.counter, after.counter]).toEqual(['0000000000', '0000000000']);
    expect(after.token).toBeGreaterThan(before.token);
  });

  it('may be missing or vanish at any time: every acquire gets through', async () => {
    const { mine, theirs, key } = stage();
    let [inside, mostInside] = [0, 0];
    const visit = async () => {
      mostInside = Math.max(mostInside, ++inside);
      await nextTurn();
      inside -= 1;
    };
    for (let round = 0; round < 40; round++) {
      if (round % 8 === 0) await isCollected();
      await Promise.all([mine, theirs, mine].map((client) => client.mutex(key).using(visit)));
    }
    expect(mostInside).toBe(1);
    expect(await stage().nodes()).toEqual([]);
  });
});
