import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisSentinel } from '../../support/redis-sentinel.js';

describe('RedisSentinel', () => {
  let sentinel: RedisSentinel;

  beforeAll(async () => {
    sentinel = await RedisSentinel.start();
  });
  afterAll(() => sentinel.stop());

  it('leads its clients to the master', async () => {
    await sentinel.client().set('where', 'here');
    const master = await sentinel.master();
    expect(await master.command('GET', 'where')).toBe('here');
    expect(await master.role()).toMatchObject({ name: 'master', replicas: 1 });
  });

  it('leads those that want one to the replica', async () => {
    const replica = await sentinel.replica();
    const reader = sentinel.client({ role: 'slave' });
    expect(await reader.config('GET', 'port')).toEqual(['port', `${replica.port}`]);
    await expect(reader.set('key', 'value')).rejects.toThrow('READONLY');
  });

  it('fails over to the replica, which has the data, again and again', async () => {
    const client = sentinel.client();
    for (const value of ['one', 'two']) {
      await client.set('key', value);
      const [master, replica] = [await sentinel.master(), await sentinel.replica()];

      await sentinel.failOver();
      expect(await sentinel.master()).toBe(replica);
      expect(await replica.command('GET', 'key')).toBe(value);
      expect(await client.get('key')).toBe(value);

      await sentinel.restart();
      expect(await sentinel.replica()).toBe(master);
      expect(await master.role()).toMatchObject({ name: 'replica', master: replica.port });
    }
  });

  it('takes a killed sentinel back', async () => {
    const [first] = sentinel.sentinels;
    await first!.kill();
    expect((await sentinel.master()).running).toBe(true);
    await sentinel.restart();
    expect(first!.running).toBe(true);
  });
});
