import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as scripts from '../../../lib/redis/scripts/index.js';
import { Program } from '../../faults/support/program.js';
import { RedisServer, sinceRedis } from '../../support/redis-server.js';
import { byTier } from '../../support/tier.js';
import type { DifferentialReport } from './differential/differential.js';

/** `SIMULATION_SEED=7` makes the calls of seed 7; `SIMULATION_CALLS` says how many. */
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const CALLS = Number(
  process.env.SIMULATION_CALLS ?? byTier({ quick: 1_000, standard: 4_000, long: 1_000_000 }),
);

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const since70 = sinceRedis('7.0') ? describe : describe.skip;

since70('The simulated server', () => {
  it(
    `answers ${CALLS} random calls from seed ${SEED} as Redis does, and has the same keys after each`,
    async () => {
      const args = [server.port, SEED, CALLS].map(String);
      const url = new URL('./differential/differential-program.ts', import.meta.url);
      const program = new Program(url, args);
      const { difference, answered } = await program.next<DifferentialReport>();
      await program.stop();
      expect(difference).toBeUndefined();
      const known = new Map(answered);
      const rare = Object.values(scripts).filter(
        ({ name }) => (known.get(name) ?? 0) < CALLS / 500,
      );
      expect(rare.map(({ name }) => name)).toEqual([]);
    },
    60_000 + CALLS,
  );
});
