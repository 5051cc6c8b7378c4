import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Program } from './support/program.js';
import { KEPT } from '../support/kept-keys.js';

const MEGABYTE = 2 ** 20;
const PROGRAM = new URL('./programs/redis-leak-check.ts', import.meta.url);

describe('11,000 acquires, 1,000 timeouts and 1,000 aborts on Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('leave no key, no subscription and no memory behind, and no open handle after close()', async () => {
    const program = new Program(PROGRAM, [server.url], ['--expose-gc']);
    try {
      const before = { heap: await program.next<number>(), connections: await left() };
      program.tell('go on');
      const after = { heap: await program.next<number>(), connections: await left() };
      program.tell('close');
      expect(await program.exited).toEqual({ code: 0, signal: null, errors: '' });
      expect(after.connections).toBe(before.connections);
      expect(after.heap - before.heap).toBeLessThan(5 * MEGABYTE);
      await eventually('its connections are closed', async () => (await connections()) === 0);
    } finally {
      await program.stop();
    }
  }, 120_000);

  /** Waits until nothing but counters of tokens is there; resolves to the number of connections then. */
  async function left(): Promise<number> {
    await eventually('no lock is left', async () => {
      const keys = (await server.command('keys', '*')) as string[];
      return keys.every((key) => KEPT.test(key));
    });
    await eventually('no client listens', async () => {
      const channels = (await server.command('pubsub', 'channels')) as string[];
      return channels.length === 0;
    });
    return connections();
  }

  /** But for the one that asks. */
  async function connections(): Promise<number> {
    const clients = String(await server.command('client', 'list'))
      .trim()
      .split('\n');
    return clients.length - 1;
  }
});
