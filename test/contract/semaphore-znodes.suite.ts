import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { ZooKeeperLease } from '../../lib/zookeeper/locks/zookeeper-lease.js';
import type { Stage } from './stage.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

const EMPTY = Buffer.alloc(0);
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** What others see on the servers: Curator's names, data and count. */
export function semaphoreZnodesSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it('are a lease for each permit, and a place at the gate for each waiter', async () => {
    const { mine, theirs, stranger, path } = stage();
    const held = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const { lease } = await semaphores.queue(theirs, 2);
    await semaphores.nodesBecome({ leases: 3, gate: 1 });
    expect((await stage().nodes()).sort()).toEqual(['leases', 'locks']);
    const [leases, gate] = [await semaphores.leases(), await semaphores.gate()];
    for (const name of leases) expect(name).toMatch(new RegExp(`^_c_${UUID}-lease-\\d{10}$`));
    expect(gate[0]).toMatch(new RegExp(`^_c_${UUID}-lock-\\d{10}$`));
    const owners = [];
    for (const node of [...leases.map((name) => `leases/${name}`), `locks/${gate[0]}`]) {
      const { data, stat } = await stranger.getData(`${path}/${node}`);
      expect(isIP(data.toString()) > 0 || data.length === 0).toBe(true);
      owners.push(stat.ephemeralOwner);
    }
    const [ours, other] = [mine, theirs].map(({ connection }) => connection.session!.id);
    expect(owners).toEqual([ours, ours, other, other]);
    await held.release();
    await (await lease).release();
  });

  it('are known to the lease', async () => {
    const { mine, path } = stage();
    await using lease = await semaphores.of(mine, 3).acquire({ permits: 3 });
    expect(lease).toBeInstanceOf(ZooKeeperLease);
    const nodes = await semaphores.leases();
    expect(lease.paths).toEqual(nodes.map((name) => `${path}/leases/${name}`));
  });

  it.each([
    ['text', 'worker 7'],
    ['bytes', Buffer.from([0, 255, 1])],
  ])('carry the %s that the semaphore was made with, a copy of it', async (_, data) => {
    const { mine, stranger, key } = stage();
    const given = typeof data === 'string' ? data : Buffer.from(data);
    const semaphore = mine.locks.semaphore(key, { permits: 1, data: given });
    if (typeof given !== 'string') given.fill(7);
    await using lease = await semaphore.acquire();
    const { paths } = lease;
    expect((await stranger.getData(paths[0]!)).data).toEqual(Buffer.from(data));
    expect(await lease.data()).toEqual(Buffer.from(data));
  });

  it('are listed as participants, and the next waiter with them (Curator: testGetParticipantNodes)', async () => {
    const { mine, theirs, path } = stage();
    const semaphore = semaphores.of(mine, 10);
    expect(await semaphore.participants()).toEqual([]);
    const leases = [];
    for (let n = 0; n < 10; n++) leases.push(await semaphore.acquire());
    expect(await semaphore.participants()).toHaveLength(10);
    const { lease: next } = await semaphores.queue(theirs, 10);
    await semaphores.nodesBecome({ leases: 11, gate: 1 });
    const nodes = await semaphores.leases();
    await stage().caughtUp(mine);
    expect(await semaphore.participants()).toEqual(nodes.map((name) => `${path}/leases/${name}`));
    await Promise.all(leases.map((lease) => lease.release()));
    await (await next).release();
    await stage().caughtUp(mine);
    expect(await semaphore.participants()).toEqual([]);
  });

  describe('of others', () => {
    const asCurator = async (directory: 'leases' | 'locks', name: string) => {
      const { stranger, path } = stage();
      const prefix = `${path}/${directory}/_c_${randomUUID()}-${name}-`;
      return stranger.create(prefix, EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL);
    };

    it("count: a lease of Curator's is respected, and waited for", async () => {
      const { mine, stranger } = stage();
      await semaphores.of(mine, 2).using(async () => {}); // makes the directories
      const foreign = await asCurator('leases', 'lease');
      const one = await semaphores.of(mine, 2).acquire();
      expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
      const { lease } = await semaphores.queue(mine, 2);
      await stranger.delete(foreign);
      await Promise.all([one, await lease].map((held) => held.release()));
    });

    it.each(['foo', '0', 'zzz', 'lease-', 'deadbeef-lease-0000000000'])(
      'count whatever their name: %j takes a permit, as in Curator',
      async (name) => {
        const { mine, stranger, path } = stage();
        await semaphores.of(mine, 2).using(async () => {});
        const stray = `${path}/leases/${name}`;
        await stranger.create(stray, EMPTY, CreateMode.EPHEMERAL);
        await stage().caughtUp(mine);
        expect(await semaphores.of(mine, 2).availablePermits()).toBe(1);
        const one = await semaphores.of(mine, 2).acquire();
        expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
        const { lease } = await semaphores.queue(mine, 2);
        await semaphores.nodesBecome({ leases: 3, gate: 1 });
        await stranger.delete(stray);
        await Promise.all([one, await lease].map((held) => held.release()));
      },
    );

    it('at the gate are waited for, though there are permits', async () => {
      const { mine, stranger } = stage();
      await using first = await semaphores.of(mine, 3).acquire();
      const foreign = await asCurator('locks', 'lock');
      const { lease } = await semaphores.queue(mine, 3);
      await semaphores.nodesBecome({ leases: 1, gate: 2 });
      await stranger.delete(foreign);
      await using second = await lease;
      expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    });

    it('may be in another chroot, where there are other permits', async () => {
      const { mine, key } = stage();
      const inside = await stage().client({ namespace: `chroot-of-${key}` });
      await using outer = await semaphores.of(mine, 1).acquire();
      await using inner = await semaphores.of(inside, 1).acquire();
      expect([outer.isHeld, inner.isHeld]).toEqual([true, true]);
      expect(await semaphores.of(inside, 1).participants()).toHaveLength(1);
    });
  });
}
