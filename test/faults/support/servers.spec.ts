import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { eventually } from '../../support/time.js';
import { useCleanup, useRedis, useZooKeeperEnsemble } from '../../support/fixtures.js';
import { freePorts } from '../../support/processes.js';
import { RedisServer } from '../../support/redis-server.js';
import { Program } from './program.js';

describe('Free ports', () => {
  const HOST = '127.0.0.1';
  const worker = process.env.JEST_WORKER_ID;
  afterEach(() => void (process.env.JEST_WORKER_ID = worker));

  it('are different each time, although the earlier ones have no listener', async () => {
    const all = new Set<number>();
    for (let round = 0; round < 10; round++)
      for (const port of await freePorts(50, HOST)) all.add(port);
    expect(all.size).toBe(500);
  });

  it('are different in each worker', async () => {
    process.env.JEST_WORKER_ID = '1';
    const first = await freePorts(50, HOST);
    process.env.JEST_WORKER_ID = '2';
    const second = await freePorts(50, HOST);
    expect(Math.max(...first)).toBeLessThan(Math.min(...second));
  });
});

describe('A Redis server of the tests', () => {
  const server = useRedis();
  const cleanup = useCleanup();

  it('counts a single command, and nothing beside it', async () => {
    await server().command('CONFIG', 'RESETSTAT');
    await server().command('SET', 'one', '1');
    const stats = String(await server().command('INFO', 'commandstats'));
    expect(stats.match(/(?<=^cmdstat_)[^:]+/gm)).toEqual(
      expect.arrayContaining(['config|resetstat', 'set']),
    );
    expect(stats.match(/^cmdstat_/gm)).toHaveLength(2);
  });

  it('reports from the log why it does not start', async () => {
    await expect(RedisServer.start({ config: { 'no-such-thing': '1' } })).rejects.toThrow(
      /did not start:[^]*Bad directive[^]*install\.sh/,
    );
  });

  it('does not take another server on its port for itself', async () => {
    const started = RedisServer.start({ port: server().port });
    await expect(started).rejects.toThrow('Address already in use');
  });

  it('takes further configuration, ends when stopped, frozen too, and leaves nothing behind', async () => {
    const own = cleanup(await RedisServer.start({ config: { databases: '3' } }), (it) => it.stop());
    const client = own.client();
    expect(await own.command('CONFIG', 'GET', 'databases')).toEqual(['databases', '3']);
    const [, dir] = (await own.command('CONFIG', 'GET', 'dir')) as string[];
    own.freeze();
    await own.stop();
    await own.stop(); // twice does no harm
    expect(own.running).toBe(false);
    expect(existsSync(dir!)).toBe(false);
    expect(client.status).toBe('end');
  });

  it('ends with the process that started it, although that was killed, and leaves nothing behind', async () => {
    const url = new URL('../programs/server-owner.ts', import.meta.url);
    const owner = cleanup(new Program(url, []), (it) => it.stop());
    const { pid, folder } = await owner.next<{ pid: number; folder: string }>();
    expect([process.kill(pid, 0), existsSync(folder)]).toEqual([true, true]);
    await owner.stop();
    await eventually('the server is gone', () => !existsSync(`/proc/${pid}`), { within: 20_000 });
    await eventually('its folder is gone', () => !existsSync(folder), { within: 20_000 });
  });
});

describe('The ensemble of the tests', () => {
  const ensemble = useZooKeeperEnsemble();

  it('does not take a leader that was frozen, and was replaced, for the leader', async () => {
    const first = await ensemble().leader();
    first.freeze();
    const others = ensemble().servers.filter((server) => server !== first);
    const roles = () => Promise.all(others.map((server) => server.role()));
    const isReplaced = async () => (await roles()).sort().join() === 'follower,leader';
    await eventually('another leads', isReplaced, { within: 60_000 });
    first.thaw();
    expect(await ensemble().leader()).not.toBe(first);
    await eventually('the first follows', () => ensemble().isWhole(), { within: 30_000 });
  }, 120_000);
});
