import { expect, it } from '@jest/globals';
import { LockUpgradeError } from '../../lib/core/errors/index.js';
import { downgrade } from './downgrade.js';
import type { LockStage } from './lock-stage.js';
import type { StageClient } from './stage-client.js';

/** What a client reports of both halves of a lock. */
export function readWriteEventsSuite(stage: () => LockStage): void {
  it('report each half that is granted and released; a downgrade is a grant, a re-entry none', async () => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    const { writer, reader } = await downgrade(mine, key);
    await reader.run(() => mine.readLock(key).using(async () => {}));
    expect(heard).toEqual(['acquired', 'acquired']);
    await Promise.all([writer.release(), reader.release()]);
    expect(heard).toEqual(['acquired', 'acquired', 'released', 'released']);
  });

  it('report that a reader waits for a writer, and that it is served', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    const heard = eventsOf(theirs);
    const { lease } = await stage().queueFor(theirs.readLock(key), theirs);
    await writer.release();
    await (await lease).release();
    expect(heard).toEqual(['contended', 'acquired', 'released']);
  });

  it('report that both are lost, writer and reader, and then not that they are released', async () => {
    const { mine, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const heard = eventsOf(mine);
    await stage().expire(mine);
    await Promise.all([writer.release(), reader.release()]);
    expect(heard).toEqual(['lost', 'lost']);
  });

  it('report nothing of an upgrade, which sends nothing to the servers', async () => {
    const { mine, key } = stage();
    await mine.readLock(key).using(async () => {
      const heard = eventsOf(mine);
      await expect(mine.writeLock(key).acquire()).rejects.toBeInstanceOf(LockUpgradeError);
      expect(heard).toEqual([]);
    });
  });

  /** The kinds of the events that the client emits for the key from now on. */
  function eventsOf({ locks }: StageClient): string[] {
    const heard: string[] = [];
    for (const kind of ['acquired', 'contended', 'released', 'lost', 'failed'] as const)
      locks.on(kind, ({ key }) => key === stage().key && heard.push(kind));
    return heard;
  }
}
