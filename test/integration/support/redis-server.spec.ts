import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { RedisServer } from '../../support/redis-server.js';

describe('RedisServer', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('serves clients and single commands', async () => {
    await server.client().set('greeting', 'hello');
    expect(await server.command('GET', 'greeting')).toBe('hello');
    await expect(server.command('NONSENSE')).rejects.toThrow("unknown command 'NONSENSE'");
  });

  it('counts a single command, and nothing beside it', async () => {
    await server.command('CONFIG', 'RESETSTAT');
    await server.command('SET', 'one', '1');
    const stats = String(await server.command('INFO', 'commandstats'));
    expect(stats.match(/(?<=^cmdstat_)[^:]+/gm)).toEqual(
      expect.arrayContaining(['config|resetstat', 'set']),
    );
    expect(stats.match(/^cmdstat_/gm)).toHaveLength(2);
  });

  it('keeps its clients waiting while it is frozen', async () => {
    const client = server.client({ commandTimeout: 50 });
    await client.ping();
    server.freeze();
    await expect(client.ping()).rejects.toThrow('Command timed out');
    server.thaw();
    expect(await server.command('PING')).toBe('PONG');
  });

  it('comes back on the same port after a kill, without data', async () => {
    const client = server.client();
    await client.set('key', 'value');
    await server.kill();
    expect(server.running).toBe(false);
    await expect(server.command('PING')).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    expect(await client.get('key')).toBeNull();
  });
});

it('takes further configuration', async () => {
  const server = await RedisServer.start({ config: { databases: '3' } });
  expect(await server.command('CONFIG', 'GET', 'databases')).toEqual(['databases', '3']);
  await server.stop();
});

it('reports from the log why it does not start', async () => {
  await expect(RedisServer.start({ config: { 'no-such-thing': '1' } })).rejects.toThrow(
    /did not start:[^]*Bad directive[^]*install\.sh/,
  );
});

it('does not take another server on its port for itself', async () => {
  const first = await RedisServer.start();
  await expect(RedisServer.start({ port: first.port })).rejects.toThrow('Address already in use');
  await first.stop();
});

it('ends when stopped, frozen too, and leaves nothing behind; twice does no harm', async () => {
  const server = await RedisServer.start();
  const client = server.client();
  const [, dir] = (await server.command('CONFIG', 'GET', 'dir')) as string[];
  server.freeze();
  await server.stop();
  await server.stop();
  expect(server.running).toBe(false);
  expect(existsSync(dir!)).toBe(false);
  expect(client.status).toBe('end');
});
