import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { collectingBackends } from './collecting-backends.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

describe.each(collectingBackends)('The directory of a read/write lock on %s', (_, makeBackend) => {
  const stage = onStage(async () => Stage.build(await makeBackend()));

  const isCollected = () =>
    eventually('it is collected', async () => !(await stage().stranger.exists(stage().path)));

  it('may be missing or vanish at any time: every acquire gets through', async () => {
    const { mine, theirs, key } = stage();
    let [writers, readers, meetings] = [0, 0, 0];
    const write = async () => {
      writers += 1;
      await nextTurn();
      if (writers > 1 || readers > 0) meetings += 1;
      writers -= 1;
    };
    const read = async () => {
      readers += 1;
      await nextTurn();
      if (writers > 0) meetings += 1;
      readers -= 1;
    };
    for (let round = 0; round < 40; round++) {
      if (round % 8 === 0) await isCollected();
      await Promise.all([
        mine.readLock(key).using(read),
        theirs.writeLock(key).using(write),
        theirs.readLock(key).using(read),
        mine.writeLock(key).using(() => mine.readLock(key).using(nextTurn)),
      ]);
    }
    expect(meetings).toBe(0);
    expect(await stage().nodes()).toEqual([]);
  });

  it('counts from 0 again when it is made anew, but fencing tokens go on growing', async () => {
    const { mine, key } = stage();
    const tokens: bigint[] = [];
    for (const half of ['write', 'read', 'write'] as const) {
      await isCollected();
      await mine.half(half, key).using(async (lease) => {
        expect(await stage().nodes()).toEqual([expect.stringMatching(/0000000000$/)]);
        tokens.push(await lease.fencingToken());
      });
    }
    expect(tokens[1]).toBeGreaterThan(tokens[0]!);
    expect(tokens[2]).toBeGreaterThan(tokens[1]!);
  });

  it('stays for the reader of a downgrade, although its node took no number', async () => {
    const { mine, theirs, key, path, stranger } = stage();
    const reader = await mine.writeLock(key).using(() => mine.readLock(key).acquire());
    await mine.mutex('another').using(async () => {});
    await eventually(
      'another is collected',
      async () => !(await stranger.exists('/locks/another')),
    );
    expect(await stranger.exists(path)).toBeDefined();
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
    await reader.release();
  });
});
