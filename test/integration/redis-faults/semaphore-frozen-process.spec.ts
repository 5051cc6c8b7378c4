import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { lockRenew } from '../../../lib/redis/scripts/index.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { Program } from '../support/program.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { SEMAPHORES } from './semaphore-kinds.js';
import { permitsOf } from './semaphore-permits-of.js';

const LEASE = 3_000;

/** What a holder reports that has asked for, and was notified of, the end of its leases. */
const TRUTH = { held: [false, false], remaining: [0, 0], told: [true, true] };

describe('A process that was frozen for longer than its permits last', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let redis: Redis;
  let proxy: RedisProxy;
  let holder: Program;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    proxy = await RedisProxy.start(server);
    const url = new URL('../programs/frozen-permit-holder.ts', import.meta.url);
    holder = new Program(url, [`${proxy.port}`, key, `${LEASE}`]);
    expect(await holder.next()).toBe('held');
    holder.tell('watch');
    expect(await holder.next()).toBe('watching');
  });
  afterEach(async () => {
    await holder.stop();
    await clients.close();
    await proxy.stop();
  });

  /** Until its next renewal is on its way, and stays there. */
  async function stall(): Promise<void> {
    proxy.hold();
    const renewals = () => proxy.commands.filter(([, sha1]) => sha1 === lockRenew.sha1).length;
    const before = renewals();
    await eventually('a renewal is on its way', () => renewals() > before);
  }

  describe.each([
    ['', async () => {}, () => {}],
    [' while a renewal was on its way', stall, () => proxy.resume()],
  ])('%s', (_when, before, after) => {
    it.each(SEMAPHORES)(
      'knows of the loss at once, and takes no permit from the new holder (%s)',
      async (_, of) => {
        await before();
        holder.freeze();
        const semaphore = of(await clients.on(server.client(), { watchdogTimeout: LEASE }), key);
        const lease = await semaphore.acquire({ permits: 3 });
        after();
        holder.thaw();
        expect(await holder.next()).toEqual(TRUTH);
        expect(await holder.next()).toBe('released');
        expect(lease.isHeld).toBe(true);
        expect(await permitsOf(redis, key)).toMatchObject({ free: 0, taken: 3 });
      },
    );
  });
});
