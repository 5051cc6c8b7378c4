import { beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import {
  currentLease,
  LockDefaults,
  LockLostError,
  LockOptionsError,
  LockStream,
  ReadLock,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
  type LockModuleOptions,
} from '../../lib/index.js';
import { useRedis, useShared } from '../support/fixtures.js';
import { eventually } from '../support/time.js';
import { RedisServer } from '../support/redis-server.js';
import { clientOf, errorOf, Room, useApps } from './support/apps.js';

const aborted = () =>
  new Promise<void>((resolve) => currentLease()!.signal.addEventListener('abort', () => resolve()));

@Injectable()
class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex('order', { fair: true })
  async fair(): Promise<string> {
    return this.room.stay('paid');
  }

  @WithMutex('token', { fenced: true })
  async fenced(): Promise<string> {
    return this.room.stay('paid');
  }

  @WithMutex('hot', { handOff: { atMost: 10, for: 600_000 } })
  async handedOn(): Promise<string> {
    return this.room.stay('paid');
  }

  @ReadLock('prices', { handOff: { atMost: 10, for: 600_000 } })
  async read(): Promise<string> {
    return this.room.stay('paid');
  }

  @WithMultiLock([{ key: 'order', fair: true }, 'other'])
  async several(): Promise<string> {
    return this.room.stay('paid');
  }

  @Semaphore('permits', { permits: 1, fair: true })
  async permit(): Promise<string> {
    return this.room.stay('paid');
  }

  @LockStream('order', { fair: true })
  stream(): Observable<string> {
    return of('paid');
  }
}

@Injectable()
class Hangs {
  @WithMutex('hangs', { maxHold: 300 })
  async until(): Promise<void> {
    await aborted();
  }
}

@Injectable()
class SeveralHang {
  @WithMultiLock(['hangs', 'other'], { maxHold: 300 })
  async until(): Promise<void> {
    await aborted();
  }
}

@Injectable()
@LockDefaults({ maxHold: 300 })
class HangsByDefault {
  @WithMutex('hangs')
  async until(): Promise<void> {
    await aborted();
  }
}

@Injectable()
class Plain {
  @WithMutex('order')
  async pay(): Promise<void> {}
}

@Injectable()
class HandedOn {
  @WithMutex('order', { handOff: { atMost: 1, for: 1 } })
  async pay(): Promise<void> {}
}

@Injectable()
class Fair {
  @WithMutex('order', { fair: true })
  async pay(): Promise<void> {}
}

describe('Options of the mutex on decorators', () => {
  const redis = useRedis();
  const nodes = useShared(async () => {
    const all = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
    return { all, stop: () => Promise.all(all.map((server) => server.stop())) };
  });
  const apps = useApps();
  const options = (): LockModuleOptions => ({ backend: 'redis', connect: redis().url });
  const boot = () => apps.boot({ clients: [options()], providers: [Orders] });

  beforeEach(async () => {
    const user = redis().client();
    await user.flushall();
    user.disconnect();
  });

  it.each([
    ['fair', 'redisson_lock_queue:{order}'],
    ['several', 'redisson_lock_queue:{order}'],
    ['permit', 'interlock_permit_queue:{permits}'],
  ] as const)('queue on the server where the lock is fair: %s', async (method, queue) => {
    const [one, two] = [await boot(), await boot()];
    const first = one.get(Orders)[method]();
    await apps.room.entered.promise;
    const contender = clientOf(two);
    const queued = new Promise((resolve) => contender.on('contended', resolve));
    const second = two.get(Orders)[method]();
    await queued;
    const user = redis().client();
    await eventually('it is in the queue', () => user.llen(queue));
    user.disconnect();
    apps.room.open();
    expect(await Promise.all([first, second])).toEqual(['paid', 'paid']);
  });

  it('bring the token along with the grant where the lock is fenced', async () => {
    const app = await boot();
    const paid = app.get(Orders).fenced();
    await apps.room.entered.promise;
    expect(clientOf(app).activity()).toMatchObject([{ key: 'token', fencingToken: 1n }]);
    apps.room.open();
    expect(await paid).toBe('paid');
  });

  it.each([
    ['have the next call of the process take the lock over on Redis', 'handedOn', () => options()],
    ['have the next call of the process take the lock over on embedded', 'handedOn', () => ({})],
    ['have the readers of the process share the lock on Redis', 'read', () => options()],
    ['have the readers of the process share the lock on embedded', 'read', () => ({})],
  ] as const)('%s', async (_, method, backend) => {
    const app = await apps.boot({ clients: [backend()], providers: [Orders] });
    const counts: (number | undefined)[] = [];
    clientOf(app).on('acquired', ({ handOffs }) => counts.push(handOffs));
    const calls = [1, 2, 3].map(() => app.get(Orders)[method]());
    apps.room.open();
    expect(await Promise.all(calls)).toEqual(['paid', 'paid', 'paid']);
    expect(counts).toEqual([undefined, 1, 2]);
  });

  it('are those of the client where the decorator has none', async () => {
    const clients = [{ ...options(), handOff: { atMost: 1, for: 600_000 } }];
    const app = await apps.boot({ clients, providers: [Plain] });
    const counts: (number | undefined)[] = [];
    clientOf(app).on('acquired', ({ handOffs }) => counts.push(handOffs));
    const calls = [1, 2, 3].map(() => app.get(Plain).pay());
    await Promise.all(calls);
    expect(counts).toEqual([undefined, 1, undefined]);
  });

  it.each([
    [Hangs, 'maxHold of 300 ms'],
    [HangsByDefault, 'maxHold of 300 ms'],
    [SeveralHang, 'its part "hangs" was lost'],
  ])('end a hold that hangs, by maxHold: %p', async (type, why) => {
    const app = await apps.boot({ clients: [options()], providers: [type] });
    const error = await errorOf(app.get<Hangs>(type).until());
    expect(error).toBeInstanceOf(LockLostError);
    expect(error.message).toContain(why);
  });

  it('mean nothing on embedded where it has them anyway', async () => {
    const app = await apps.boot({ providers: [Orders] });
    apps.room.open();
    const { fair, fenced, several, permit } = Orders.prototype;
    for (const method of [fair, fenced, several, permit])
      expect(await method.call(app.get(Orders))).toBe('paid');
  });

  it('are refused when the class is defined if they are not what they have to be', () => {
    const wrong: readonly [object, string][] = [
      [{ fair: 'yes' }, 'true or false'],
      [{ fenced: 1 }, 'true or false'],
      [{ maxHold: 0 }, 'milliseconds above 0'],
      [{ handOff: { atMost: 1 } }, '{ atMost, for, keep? }'],
      [{ handOff: { atMost: 1, for: 1 }, fair: true }, 'none with `fair`'],
    ];
    const on = Object.create(Orders.prototype) as object;
    for (const [options, expected] of wrong)
      expect(() => WithMutex('order', options)(on, 'pay', { value: async () => {} })).toThrow(
        expected,
      );
    const handOff = { atMost: 1, for: 1 };
    const several = WithMultiLock([{ key: 'order', handOff }, 'other']);
    expect(() => several(on, 'pay', { value: async () => {} })).toThrow('locked alone');
    const kept = ReadLock('order', { handOff: { ...handOff, keep: 1 } as never });
    expect(() => kept(on, 'pay', { value: async () => {} })).toThrow('one without `keep`');
    const written = WriteLock('order', { handOff } as never);
    expect(() => written(on, 'pay', { value: async () => {} })).toThrow('handOff');
  });

  it('keep an app from starting whose backend does not have them', async () => {
    for (const provider of [Hangs, SeveralHang, HangsByDefault]) {
      const error = await apps.bootError({ providers: [provider] });
      expect(error).toBeInstanceOf(LockOptionsError);
      expect(error.message).toContain('none: only locks on Redis have it, to @With');
    }
    const clients = [{ backend: 'redis' as const, nodes: nodes().all.map(({ url }) => url) }];
    const error = await apps.bootError({ clients, providers: [Fair] });
    expect(error.message).toContain('no queue in common, to @WithMutex of Fair.pay');
    const others = await apps.bootError({ clients, providers: [HandedOn] });
    expect(others.message).toContain('one server or cluster, to @WithMutex of HandedOn.pay');
    const [client] = clients;
    const own = await apps.bootError({ clients: [{ ...client!, handOff: { atMost: 1, for: 1 } }] });
    expect(own.message).toContain('none with `nodes`');
  });
});
