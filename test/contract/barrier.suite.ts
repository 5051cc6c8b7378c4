import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { DistributedBarrier } from '../../lib/zookeeper/barriers/distributed-barrier.js';
import { CreateMode, Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually, isSettled } from '../support/time.js';
import { type Deployment, onStage } from './backends/stage.js';
import { type Backend, type Client, Stage } from './backends/zookeeper.js';

type WaitOptions = Parameters<DistributedBarrier['waitOnBarrier']>[0];

/** Everything that a barrier promises; with the cases of Curator's TestDistributedBarrier. */
export function barrierSuite(on: Deployment<Backend>): void {
  describe(`A barrier on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));

    const of = ({ locks }: Client): DistributedBarrier => locks.barrier(stage().key);
    const looks = ({ requests }: Client) => requests.filter(({ op }) => op === 'getData').length;

    /** Has the client wait at the barrier; resolves when it does, with the wait under way. */
    async function wait(client: Client, options?: WaitOptions) {
      const before = looks(client);
      const over = of(client).waitOnBarrier(options);
      over.catch(() => {}); // looked at by the test, later
      await eventually('it has looked', () => looks(client) > before);
      await stage().caughtUp(client);
      return { over };
    }

    on.part('while it is set', 'deployment', () => {
      it('holds back every client that comes, until it is removed (Curator: TestDistributedBarrier testBasic)', async () => {
        const { mine, theirs } = stage();
        await of(mine).setBarrier();
        const waits = [await wait(mine), await wait(theirs, { wait: 60_000 })];
        for (const { over } of waits) expect(await isSettled(over)).toBe(false);
        await of(mine).removeBarrier();
        await Promise.all(waits.map(({ over }) => over));
      });

      it('stays when the client that set it is gone, and lets all clients through (Curator: TestDistributedBarrier testMultiClient)', async () => {
        const { mine, theirs } = stage();
        const setter = await stage().client();
        await of(setter).setBarrier();
        await setter.locks.close();
        await expect(of(mine).waitOnBarrier({ wait: 10 })).rejects.toBeInstanceOf(LockTimeoutError);
        const waits = [await wait(mine), await wait(theirs)];
        for (const { over } of waits) expect(await isSettled(over)).toBe(false);
        await of(await stage().client()).removeBarrier();
        await Promise.all(waits.map(({ over }) => over));
      });

      it('holds a client back over the end of its session', async () => {
        const { mine, theirs } = stage();
        await of(mine).setBarrier();
        const { over } = await wait(theirs);
        await stage().expire(theirs);
        await stage().caughtUp(theirs);
        expect(await isSettled(over)).toBe(false);
        await of(mine).removeBarrier();
        await over;
      });

      it('holds back every client that comes after it was set, whatever server the client is on', async () => {
        const { mine, theirs } = stage();
        for (let time = 0; time < 10; time++) {
          await of(mine).setBarrier();
          const { over } = await wait(theirs);
          expect(await isSettled(over)).toBe(false);
          await of(mine).removeBarrier();
          await over;
        }
      });
    });

    on.part('in a crash of the servers', 'recipe', () => {
      it('holds clients back, until it is removed (Curator: testServerCrash)', async () => {
        const { mine, theirs } = stage();
        await of(mine).setBarrier();
        const { over } = await wait(theirs);
        const { over: short } = await wait(mine, { wait: 500 });
        const timedOut = expect(short).rejects.toBeInstanceOf(LockTimeoutError);
        await stage().down();
        await timedOut;
        await stage().up();
        await stage().caughtUp(theirs);
        expect(await isSettled(over)).toBe(false);
        await of(mine).removeBarrier();
        await over;
      });
    });

    on.part('with its node and its waiters', 'server', () => {
      it('holds back no client when it is not set, however long the client would wait (Curator: testNoBarrier)', async () => {
        const barrier = of(stage().mine);
        await barrier.waitOnBarrier({ wait: 10_000 });
        await barrier.waitOnBarrier({ wait: 'forever' });
        await barrier.waitOnBarrier();
      });

      it('may be set twice, and removed twice', async () => {
        const { mine, theirs } = stage();
        await of(mine).removeBarrier();
        await Promise.all([of(mine).setBarrier(), of(theirs).setBarrier(), of(mine).setBarrier()]);
        await of(theirs).removeBarrier();
        await of(mine).removeBarrier();
        await of(mine).waitOnBarrier({ wait: 10_000 });
      });

      it('is a node that stays, as in Curator', async () => {
        const { mine, stranger, path } = stage();
        await of(mine).setBarrier();
        await stranger.sync(path);
        const { data, stat } = await stranger.getData(path);
        expect(stat.ephemeralOwner).toBe('0');
        expect(data.toString()).toMatch(/^[\d.]+$|:/); // the address of this host
        expect(of(mine)).toMatchObject({ key: stage().key, path });
      });

      it('lets no client through when another client writes into its node', async () => {
        const { mine, stranger, path } = stage();
        await of(mine).setBarrier();
        const { over } = await wait(mine);
        await stranger.setData(path, Buffer.from('something'));
        await eventually('it has looked again', () => looks(mine) === 2);
        await stage().caughtUp(mine);
        expect(await isSettled(over)).toBe(false);
        await stranger.delete(path);
        await over;
      });

      it('rejects a waiter with LockTimeoutError when its time is over, and sends no more requests for it', async () => {
        const { mine, theirs } = stage();
        await of(theirs).setBarrier();
        const late = of(mine).waitOnBarrier({ wait: 50 });
        await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
        await expect(late).rejects.toMatchObject({
          waitedMs: 50,
          key: stage().key,
          client: 'contract',
        });
        const asked = mine.requests.length;
        await of(theirs).removeBarrier();
        await stage().caughtUp(mine);
        expect(mine.requests).toHaveLength(asked);
      });

      it('keeps a client waiting for its default wait when the call names none', async () => {
        const hasty = await stage().client({ wait: 30 });
        await of(hasty).setBarrier();
        await expect(of(hasty).waitOnBarrier()).rejects.toMatchObject({ waitedMs: 30 });
        const { over } = await wait(hasty, { wait: 'forever' });
        await of(hasty).removeBarrier();
        await over;
      });

      it('rejects a waiter with LockAbortedError when its signal aborts', async () => {
        const { mine } = stage();
        await of(mine).setBarrier();
        const abort = new AbortController();
        const { over } = await wait(mine, { signal: abort.signal });
        abort.abort('enough');
        await expect(over).rejects.toBeInstanceOf(LockAbortedError);
        await expect(over).rejects.toMatchObject({ cause: 'enough' });
        const asked = mine.requests.length;
        const { signal } = abort;
        await expect(of(mine).waitOnBarrier({ signal })).rejects.toBeInstanceOf(LockAbortedError);
        expect(mine.requests).toHaveLength(asked);
      });

      it('rejects a waiter when its client closes, and every call after that', async () => {
        const { mine } = stage();
        await of(mine).setBarrier();
        const { over } = await wait(mine);
        mine.locks.refuse();
        await expect(over).rejects.toBeInstanceOf(LockClientClosedError);
        await mine.locks.close();
        for (const call of ['setBarrier', 'removeBarrier', 'waitOnBarrier'] as const)
          await expect(of(mine)[call]()).rejects.toBeInstanceOf(LockClientClosedError);
      });

      it.each([{ wait: 0 }, { wait: NaN }, { wait: '5' }, { signal: 'now' }])(
        'refuses to wait with %p',
        async (options) => {
          const { mine } = stage();
          const refused = of(mine).waitOnBarrier(options as WaitOptions);
          await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
          expect(mine.requests).toEqual([]);
        },
      );

      it('rejects with LockConnectionError when the servers refuse access', async () => {
        const { mine, stranger, path } = stage();
        await of(mine).setBarrier();
        await stranger.setAcl(path, [{ perms: Permission.ADMIN, scheme: 'world', id: 'anyone' }]);
        const refused = of(mine).waitOnBarrier();
        await expect(refused).rejects.toBeInstanceOf(LockConnectionError);
        await expect(refused).rejects.toThrow(/NOAUTH/);
        await of(mine).removeBarrier(); // that is a matter of the directory
      });

      it('is not removed while something else is below it', async () => {
        const { mine, stranger, path } = stage();
        await of(mine).setBarrier();
        await stranger.sync(path);
        await stranger.create(`${path}/other`, Buffer.alloc(0), CreateMode.PERSISTENT);
        await expect(of(mine).removeBarrier()).rejects.toMatchObject({ code: 'NOTEMPTY' });
        await stranger.delete(`${path}/other`);
        await of(mine).removeBarrier();
      });
    });
  });
}
