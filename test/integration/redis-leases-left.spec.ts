import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisServer } from '../support/redis-server.js';
import { Program } from './support/program.js';

const MEGABYTE = 2 ** 20;
const PROGRAM = new URL('./programs/redis-run-out-check.ts', import.meta.url);
/** LEASES=100000 in the environment takes so many. */
const LEASES = Number(process.env['LEASES'] ?? 20_000);

describe(`${LEASES} leases that are left to run out`, () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('leave no memory behind, and nothing that close() would release', async () => {
    const program = new Program(PROGRAM, [server.url, String(LEASES)], ['--expose-gc']);
    try {
      const before = await program.next<number>();
      program.tell('go on');
      const after = await program.next<number>();
      const sent = await scripts();
      program.tell('close');
      expect(await program.exited).toEqual({ code: 0, signal: null, errors: '' });
      expect(await scripts()).toBe(sent);
      expect(after - before).toBeLessThan(5 * MEGABYTE); // 5 KB each, when they were remembered
    } finally {
      await program.stop();
    }
  }, 120_000);

  /** How many scripts were run. */
  async function scripts(): Promise<number> {
    const stats = String(await server.command('INFO', 'commandstats'));
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)![1]);
  }
});
