import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockLostError, LockNotHeldError, LockOptionsError } from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { GuardedWrite, Lease } from '../../lib/core/lease.js';
import type { LockClient } from '../../lib/core/lock-client.js';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import { type RedisCommand, redisCommands, redisScript } from '../../lib/redis/redis-write.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import {
  type ZooKeeperOperation,
  zooKeeperOperations,
} from '../../lib/zookeeper/zookeeper-write.js';
import { eventsOf, expectLost } from './backends/leases.js';
import { type RedisBackend, redisRecipes, RedisStage } from './backends/redis.js';
import { type Deployment, onStage, type StageClient, type StageOf } from './backends/stage.js';
import { type Backend, Stage } from './backends/zookeeper.js';
import { kindsOfEvery } from './multi-lock.suite.js';

/** Data of a test in the store that has its lock. */
interface Data {
  /** A write that is carried out every time: it appends a text. */
  append(text: string): GuardedWrite<unknown>;
  /** A write that the store itself refuses, under the lock or not. */
  readonly refused: GuardedWrite<unknown>;
  /** A write for the other kind of store. */
  readonly foreign: GuardedWrite<unknown>;
  /** All that was appended. */
  read(): Promise<string>;
  remove(): Promise<unknown>;
}

/** What guarded writes promise on every store that can do them. */
function everyGuardedWriteSuite<C extends StageClient>(
  stage: () => StageOf<C>,
  data: () => Data,
  makeLeader: (client: C, key: string) => ReturnType<LockClient['leaderLatch']>,
): void {
  it('is carried out while the lock is held, by every lease on it and by what runs in its scope', async () => {
    const mutex = stage().mine.locks.mutex(stage().key);
    await mutex.using(async (lease) => {
      await lease.guard(data().append('a'));
      await mutex.using(async () => void (await currentLease()!.guard(data().append('b'))));
      await lease.guard(data().append('c'));
    });
    expect(await data().read()).toBe('abc');
  });

  it('is refused once the lock is released: nothing is written', async () => {
    const lease = await stage().mine.locks.mutex(stage().key).acquire();
    await lease.guard(data().append('a'));
    await lease.release();
    await expect(lease.guard(data().append('b'))).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await data().read()).toBe('a');
  });

  it('is refused for what outlives the lock in its scope', async () => {
    let leftOver: Lease | undefined;
    await stage()
      .mine.locks.mutex(stage().key)
      .using(async () => {
        leftOver = currentLease();
      });
    await expect(leftOver!.guard(data().append('a'))).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await data().read()).toBe('');
  });

  it('is refused by the server when another client has the lock, before the holder knows', async () => {
    const { mine, theirs, key } = stage();
    const heard = eventsOf(mine);
    const lease = await mine.locks.mutex(key).acquire();
    await lease.guard(data().append('a'));
    await stage().evict();
    await using next = await theirs.locks.mutex(key).acquire();
    const late = lease.guard(data().append('x'));
    await Promise.all([
      next.guard(data().append('b')),
      expect(late).rejects.toBeInstanceOf(LockLostError),
    ]);
    await expect(late).rejects.toMatchObject({ key });
    expectLost(lease);
    expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'lost']);
    expect(await data().read()).toBe('ab');
    await lease.release();
    expect(next.isHeld).toBe(true);
  });

  it('is refused after the servers have forgotten the client', async () => {
    const lease = await stage().mine.locks.mutex(stage().key).acquire();
    await stage().expire(stage().mine);
    await expect(lease.guard(data().append('x'))).rejects.toBeInstanceOf(LockLostError);
    expect(await data().read()).toBe('');
  });

  it('that the store refuses rejects with its answer, and the lock stays', async () => {
    await using lease = await stage().mine.locks.mutex(stage().key).acquire();
    const refusal: unknown = await lease.guard(data().refused).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: expect.stringMatching(/^(Reply|ZooKeeper)Error$/) });
    expect(lease.isHeld).toBe(true);
    await lease.guard(data().append('a'));
    expect(await data().read()).toBe('a');
  });

  it('for another store, or that is none, is refused at once', async () => {
    await using lease = await stage().mine.locks.mutex(stage().key).acquire();
    const asked = stage().mine.requests.length;
    for (const write of [data().foreign, undefined, {}, null])
      await expect(lease.guard(write as GuardedWrite<void>)).rejects.toMatchObject({
        code: 'LOCK_OPTIONS',
        option: 'write',
        key: stage().key,
      });
    expect(stage().mine.requests).toHaveLength(asked);
    expect(lease.isHeld).toBe(true);
  });

  it('under a lock of any kind needs that one: it is refused once the servers have forgotten it', async () => {
    const { mine, theirs, key } = stage();
    const kinds = kindsOfEvery(mine, `{${key}}`);
    const leases = await Promise.all(Object.values(kinds).map((lock) => lock.acquire()));
    for (const lease of leases) await lease.guard(data().append('a'));
    await stage().expire(mine);
    for (const lease of leases)
      await expect(lease.guard(data().append('x'))).rejects.toBeInstanceOf(LockLostError);
    expect(await data().read()).toBe('aaaaa');
    await Promise.all(leases.map((lease) => lease.release()));
    await theirs.locks.semaphore(`{${key}}-semaphore`, { permits: 2 }).using(() => {}); // notices the end of the others
  });

  it('under two permits needs both of them', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.locks.semaphore(`{${key}}-s`, { permits: 3 });
    await using lease = await semaphore.acquire({ permits: 2 });
    await lease.guard(data().append('a'));
    await stage().expire(mine);
    await expect(lease.guard(data().append('x'))).rejects.toBeInstanceOf(LockLostError);
    expect(await data().read()).toBe('a');
    await theirs.locks.semaphore(`{${key}}-s`, { permits: 3 }).using(() => {}); // notices their end
  });

  describe('under several locks', () => {
    const of = ({ locks }: StageClient) => {
      const { key } = stage();
      return locks.multiLock([
        locks.mutex(key),
        locks.mutex(`{${key}}-b`),
        locks.mutex(`{${key}}-c`),
      ]);
    };

    it('needs all of them', async () => {
      const { mine, theirs, key } = stage();
      const lease = await of(mine).acquire();
      await lease.guard(data().append('a'));
      await stage().evict();
      await using _ = await theirs.locks.mutex(key).acquire();
      await expect(lease.guard(data().append('x'))).rejects.toBeInstanceOf(LockLostError);
      expectLost(lease);
      expect(await data().read()).toBe('a');
      await lease.release();
    });

    it('keeps all of them from being handed on, as a copy of it may be under way', async () => {
      const { mine, key } = stage();
      const handOff = { atMost: 9, for: 600_000 };
      const parts = [key, `{${key}}-b`].map((part) => mine.locks.mutex(part, { handOff }));
      const lease = await mine.locks.multiLock(parts).acquire();
      const waits = [];
      for (const part of parts) waits.push(await stage().queueFor(part, mine));
      const heard = eventsOf(mine);
      await lease.guard(data().append('a'));
      await lease.release();
      for (const { lease: next } of waits) await (await next).release();
      const acquired = heard.filter(({ kind }) => kind === 'acquired');
      expect(acquired.map(({ handOffs }) => handOffs)).toEqual([undefined, undefined]);
    });

    it('of several clients, or servers, is refused: none could check them all', async () => {
      const { mine, theirs, key } = stage();
      const elsewhere = createEmbeddedLockClient('elsewhere');
      await elsewhere.connect();
      for (const other of [theirs.locks.mutex(`{${key}}-b`), elsewhere.mutex('b')])
        await mine.locks.multiLock([mine.locks.mutex(key), other]).using(async (lease) => {
          await expect(lease.guard(data().append('x'))).rejects.toBeInstanceOf(LockOptionsError);
          expect(lease.isHeld).toBe(true);
        });
      await elsewhere.close();
      expect(await data().read()).toBe('');
    });
  });

  it('under a leadership needs it', async () => {
    const { mine, key } = stage();
    const latch = makeLeader(mine, `{${key}}-leader`);
    latch.start();
    const leadership = await latch.awaitLeadership();
    await leadership.guard(data().append('a'));
    await latch.close();
    await expect(leadership.guard(data().append('x'))).rejects.toMatchObject({
      code: expect.stringMatching(/^LOCK_(LOST|NOT_HELD)$/),
    });
    expect(await data().read()).toBe('a');
  });
}

/** Guarded writes on ZooKeeper, or on the embedded tree. */
export function guardedWriteSuite(on: Deployment<Backend>): void {
  on.part(`A guarded write on ${on.name}`, 'deployment', () => {
    afterEach(() => data().remove()); // before the stage looks what is left
    const stage = onStage(() => Stage.build(on.backend()));
    const path = () => `/data-${stage().key}`;
    const data = (): Data => ({
      append: (text) =>
        zooKeeperOperations([
          { op: 'create', path: `${path()}-`, data: text, mode: CreateMode.PERSISTENT_SEQUENTIAL },
        ]),
      refused: zooKeeperOperations([
        { op: 'create', path: `${path()}-half` },
        { op: 'check', path: `${path()}-none` },
      ]),
      foreign: redisCommands([['incr', 'a']]),
      read: async () => (await Promise.all((await written()).map(textOf))).join(''),
      remove: async () => Promise.all((await written()).map((it) => stage().stranger.delete(it))),
    });
    const textOf = async (it: string) => String((await stage().stranger.getData(it)).data);
    const written = async () => {
      const names = await stage().stranger.getChildren('/');
      return names
        .map((name) => `/${name}`)
        .filter((it) => it.startsWith(`${path()}-`))
        .sort();
    };

    everyGuardedWriteSuite(stage, data, ({ locks }, key) => locks.leaderLatch(key));

    it('resolves to the result of each operation', async () => {
      await using lease = await stage().mine.locks.mutex(stage().key).acquire();
      const it = `${path()}-node`;
      const [checked, created, changed, numbered, , gone] = await lease.guard(
        zooKeeperOperations([
          { op: 'check', path: '/locks' },
          { op: 'create', path: it },
          { op: 'setData', path: it, data: Buffer.from([1, 2]), version: 0 },
          { op: 'create', path: `${it}/`, mode: CreateMode.PERSISTENT_SEQUENTIAL },
          { op: 'delete', path: `${it}/0000000000`, version: 0 },
          { op: 'delete', path: it },
        ]),
      );
      expect([checked, created.path, changed.version]).toEqual([undefined, it, 1]);
      expect([numbered.path, gone]).toEqual([`${it}/0000000000`, undefined]);
    });

    it('names the operation that the servers refuse, and carries out none', async () => {
      await using lease = await stage().mine.locks.mutex(stage().key).acquire();
      await expect(lease.guard(data().refused)).rejects.toMatchObject({
        code: 'NONODE',
        operation: 'multi[1] check',
        path: `${path()}-none`,
        index: 1,
      });
      expect(await written()).toEqual([]);
    });

    it('is not refused for a change of the lock node, as of a revocation request', async () => {
      const { mine, theirs, key } = stage();
      await using lease = await mine.locks.mutex(key).acquire();
      await stage().caughtUp(theirs);
      const [holder] = await theirs.locks.mutex(key).participants();
      expect(await theirs.locks.revoke(holder!)).toBe(true);
      await lease.guard(data().append('a'));
      expect(await data().read()).toBe('a');
    });

    it('has paths below the chroot of the client', async () => {
      const space = `data-${stage().key}-space`;
      const client = await stage().client({ namespace: space });
      await client.locks.mutex(stage().key).using(async (lease) => {
        const [made] = await lease.guard(
          zooKeeperOperations([
            { op: 'create', path: '/there' },
            { op: 'check', path: '/' },
          ]),
        );
        expect(made).toEqual({ path: '/there' });
        expect(await stage().stranger.exists(`/${space}/there`)).toBeDefined();
        await lease.guard(zooKeeperOperations([{ op: 'delete', path: '/there' }]));
      });
      await client.locks.close();
      for (const it of [`/locks/${stage().key}`, '/locks', ''])
        await stage().stranger.delete(`/${space}${it}`);
    });

    it.each<[string, () => unknown]>([
      ['operations', () => []],
      ['operations', () => 'create'],
      ['operations', () => [null]],
      ['op', () => [{ op: 'sync', path: '/a' }]],
      ['path', () => [{ op: 'create', path: 'a' }]],
      ['path', () => [{ op: 'create', path: '/a/' }]],
      ['path', () => [{ op: 'delete', path: '/a/../b' }]],
      ['path', () => [{ op: 'setData', data: '' }]],
      ['data', () => [{ op: 'setData', path: '/a' }]],
      ['data', () => [{ op: 'create', path: '/a', data: 7 }]],
      ['mode', () => [{ op: 'create', path: '/a', mode: 'EPHEMERAL' }]],
      ['version', () => [{ op: 'check', path: '/a', version: 0.5 }]],
      ['version', () => [{ op: 'delete', path: '/a', version: 2 ** 31 }]],
      ['version', () => [{ op: 'setData', path: '/a', data: '', version: -(2 ** 31) - 1 }]],
      ['acl', () => [{ op: 'create', path: '/a', acl: 'world' }]],
      ['acl', () => [{ op: 'create', path: '/a', acl: [] }]],
      ['acl', () => [{ op: 'create', path: '/a', acl: [{ perms: 31, id: 'anyone' }] }]],
      ['acl', () => [{ op: 'create', path: '/a', acl: [{ scheme: 'world', id: 'anyone' }] }]],
    ])('refuses a wrong `%s` where it is made', (option, operations) => {
      expect(() => zooKeeperOperations(operations() as ZooKeeperOperation[])).toThrow(
        expect.objectContaining({ code: 'LOCK_OPTIONS', option }),
      );
    });
  });
}

/** What is left of it by the driver that has no transactions. */
export function noGuardedWriteSuite(on: Deployment<Backend>): void {
  on.part(`A guarded write on ${on.name}`, 'server', () => {
    const stage = onStage(() => Stage.build(on.backend()));

    it('is refused by the native driver, with the advice to use the other one', async () => {
      await using lease = await stage().mine.locks.mutex(stage().key).acquire();
      const write = zooKeeperOperations([{ op: 'create', path: '/never' }]);
      await expect(lease.guard(write)).rejects.toThrow(/Option `driver` is "native"\. Give 'wire'/);
      expect(lease.isHeld).toBe(true);
      expect(await stage().stranger.exists('/never')).toBeUndefined();
    });
  });
}

/** Guarded writes on Redis. */
export function redisGuardedWriteSuite(
  on: Deployment<RedisBackend>,
  { isCluster = false } = {},
): void {
  on.part(`A guarded write on ${on.name}`, 'deployment', () => {
    afterEach(() => data().remove()); // before the stage looks what is left
    const stage = onStage(() => RedisStage.build(on.backend(), redisRecipes.mutex));
    const name = (what = '') => `{${stage().key}}:data${what}`;
    const data = (): Data => ({
      append: (text) => redisCommands([['append', name(), text]]),
      refused: redisCommands([['hget', name('-other'), 'field']]),
      foreign: zooKeeperOperations([{ op: 'check', path: '/' }]),
      read: async () => (await stage().observer.get(name())) ?? '',
      remove: () => stage().observer.del(name(), name('-other')),
    });
    const hold = () => stage().mine.locks.mutex(stage().key).acquire();

    beforeEach(() => stage().observer.set(name('-other'), 'no hash'));
    everyGuardedWriteSuite(stage, data, ({ locks }, key) => locks.leaderLatch(key));

    it('resolves to the reply of each command, with texts as they are', async () => {
      await using lease = await hold();
      const replies = await lease.guard(
        redisCommands([
          ['set', name(), '007'],
          ['get', name()],
          ['append', name(), Buffer.from('é')],
          ['strlen', name()],
          ['get', name('-none')],
          ['setnx', name(), 1],
          ['del', name()],
        ]),
      );
      expect(replies).toEqual(['OK', '007', 5, 5, null, 0, 1]);
    });

    it('runs a script that sees its own keys and arguments, and nothing of ours', async () => {
      await using lease = await hold();
      const sees = `local function sees(it) return pcall(it) and 1 or 0 end
        return { KEYS[1], #KEYS, ARGV[2], #ARGV, sees(function() return isHeld end) } -- end`;
      const seen = await lease.guard(redisScript(sees, [name()], ['a', 7]));
      expect(seen).toEqual([name(), 1, '7', 2, 0]);
      expect(await lease.guard(redisScript(''))).toBeNull();
      expect(await lease.guard(redisScript('return redis.status_reply("FINE")'))).toBe('FINE');
      await expect(lease.guard(redisScript('return redis.error_reply("MINE no")'))).rejects.toThrow(
        /MINE no/,
      );
      await expect(lease.guard(redisScript('retur 1'))).rejects.toThrow(/compil/i);
      expect(lease.isHeld).toBe(true);
    });

    it.each([
      'SOLD out',
      'sold out',
      'BUSY the seat is being edited',
      'READONLY this order is archived',
      'OOM out of milk',
      'TRYAGAIN later',
      'NOSCRIPT for this scene',
      'GONE to the dogs',
      'MOVED 7 127.0.0.1:1',
    ])(
      'rejects with the error that a script returns, though a server might say it: %s',
      async (text) => {
        const states: string[] = [];
        stage().mine.locks.on('connection', ({ state }) => states.push(state));
        await using lease = await hold();
        const script = `redis.call('append', KEYS[1], 'a') return redis.error_reply(ARGV[1])`;
        const error = await lease
          .guard(redisScript(script, [name()], [text]))
          .catch((it: unknown) => it);
        expect(error).toMatchObject({ name: 'ReplyError', message: text });
        expect([await data().read(), states]).toEqual(['a', []]);
      },
    );

    it('leaves what was written before a command that fails: Redis undoes nothing', async () => {
      await using lease = await hold();
      const write = redisCommands([
        ['append', name(), 'a'],
        ['hget', name('-other'), 'field'],
        ['append', name(), 'b'],
      ]);
      await expect(lease.guard(write)).rejects.toThrow(/WRONGTYPE/);
      expect(await data().read()).toBe('a');
    });

    it('leaves nothing of its own when the lock is released', async () => {
      const { mine, observer, key } = stage();
      const lease = await hold();
      const record = `interlock_requests:{${key}}:${lease.holder}`;
      for (const text of ['a', 'b', 'c']) await lease.guard(data().append(text));
      expect(await observer.hlen(record)).toBe(2); // `first`, and the last
      await lease.release();
      await mine.locks.ping(10_000);
      expect(await observer.exists(record)).toBe(0);
    });

    it('is refused before the end of a lease only as far as the server knows', async () => {
      const { mine, key } = stage();
      await using lease = await mine.locks.mutex(key).acquire({ lease: 60_000 });
      await lease.guard(data().append('a'));
      await stage().observer.del(key);
      await expect(lease.guard(data().append('x'))).rejects.toBeInstanceOf(LockLostError);
      expect(await data().read()).toBe('a');
    });

    if (isCluster)
      it('with a key in another slot is refused at once', async () => {
        await using lease = await hold();
        const write = redisCommands([['incr', 'elsewhere']]);
        await expect(lease.guard(write)).rejects.toThrow(
          `Option \`keys\` is "elsewhere". Give keys in the slot of the lock, such as "{${stage().key}}:elsewhere".`,
        );
        const { locks } = stage().mine;
        const apart = locks.multiLock([locks.mutex(`{${stage().key}}-m`), locks.mutex('far away')]);
        await apart.using((both) =>
          expect(both.guard(data().append('x'))).rejects.toMatchObject({ option: 'write' }),
        );
      });

    it.each<[string, () => unknown]>([
      ['commands', () => redisCommands([])],
      ['commands', () => redisCommands('incr a' as never)],
      ['commands', () => redisCommands([null] as never)],
      ['commands', () => redisCommands(['incr a'] as never)],
      ['commands', () => redisCommands([['flushall', 'a']] as unknown as RedisCommand[])],
      ['commands', () => redisCommands([['INCR', 'a']] as unknown as RedisCommand[])],
      ['commands', () => redisCommands([['del', 'a', 'b']])],
      ['commands', () => redisCommands([['rpush', 'a', ...Array<string>(5_001).fill('')]])],
      ['key', () => redisCommands([['incr', '']])],
      ['key', () => redisScript('', [7] as never)],
      ['keys', () => redisScript('', 'a' as never)],
      ['args', () => redisScript('', [], 'a' as never)],
      ['operand', () => redisCommands([['set', 'a', NaN]])],
      ['operand', () => redisScript('', [], [undefined] as never)],
      ['source', () => redisScript(7 as never)],
    ])('refuses wrong `%s` where it is made', (option, make) => {
      expect(make).toThrow(expect.objectContaining({ code: 'LOCK_OPTIONS', option }));
    });

    it('takes commands of 5,000 operands', async () => {
      await using lease = await hold();
      const many = Array<number>(5_000).fill(1);
      const write = redisCommands([['rpush', name(), ...many]]);
      expect(await lease.guard(write)).toEqual([5_000]);
    });
  });
}
