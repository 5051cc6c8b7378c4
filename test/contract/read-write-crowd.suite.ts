import { expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import type { AcquireOptions } from '../../lib/core/lock.js';
import { eventually } from '../support/eventually.js';
import { seededRandom } from '../support/seeded-random.js';
import type { LockStage } from './lock-stage.js';
import { ReadWriteRoom } from './read-write-room.js';
import type { StageClient } from './stage-client.js';

/** Many readers, writers and writers that read on, of several clients, all at once. */
export function readWriteCrowdSuite(stage: () => LockStage): void {
  it('loses no update of writers among readers, and lets readers meet (Curator: testBasic)', async () => {
    const room = await crowd(25, () => ({}));
    expect(room).toMatchObject({ updates: room.writes, disturbances: 0 });
    expect(room.writes).toBeGreaterThan(0);
    expect(room.mostReaders).toBeGreaterThan(1);
  });

  it('does so when many give up while they wait, and keeps nothing of them', async () => {
    const random = seededRandom(2);
    const impatient = (): AcquireOptions => {
      const dice = random();
      if (dice < 0.3) return { wait: 1 + 20 * random() };
      if (dice < 0.6) return { signal: AbortSignal.timeout(Math.floor(20 * random())) };
      return {};
    };
    const room = await crowd(25, impatient);
    expect(room).toMatchObject({ updates: room.writes, disturbances: 0 });
    await eventually('nothing is left', async () => (await stage().contenders()).length === 0);
  });

  /** Four clients with two visitors each, which come in that many times. */
  async function crowd(times: number, options: () => AcquireOptions): Promise<ReadWriteRoom> {
    const { mine, theirs } = stage();
    const clients = [mine, theirs, await stage().client(), await stage().client()];
    const random = seededRandom(1);
    const room = new ReadWriteRoom();
    const visitors = [...clients, ...clients].map(async (client) => {
      for (let time = 0; time < times; time++) {
        await visit(client, room, random(), options()).catch(expectPatienceToEnd);
      }
    });
    await Promise.all(visitors);
    return room;
  }

  async function visit(
    client: StageClient,
    room: ReadWriteRoom,
    dice: number,
    options: AcquireOptions,
  ): Promise<void> {
    const { key } = stage();
    const [reading, writing] = [client.readLock(key), client.writeLock(key)];
    if (dice < 0.6) return reading.using(() => room.read(), options);
    if (dice < 0.8) return writing.using(() => room.write(), options);
    const write = async () => {
      await room.write();
      return reading.acquire();
    };
    await using reader = await writing.using(write, options);
    const { updates } = room;
    await reader.run(() => room.read());
    expect(room.updates).toBe(updates); // no client has written since
  }
}

function expectPatienceToEnd(error: unknown): void {
  if (error instanceof LockTimeoutError || error instanceof LockAbortedError) return;
  throw error;
}
