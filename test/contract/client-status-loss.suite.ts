import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LockClient, LockClientStatus } from '../../lib/core/lock-client.js';
import { eventually } from '../support/eventually.js';

/** Servers of one client that loses its locks 2 s after the servers. */
export interface ShortLived {
  /** Not connected yet. */
  readonly client: LockClient;
  /** The servers go away. */
  kill(): Promise<void>;
  /** They are back, and have forgotten the client. */
  restart(): Promise<void>;
  /** Ends them, when the client is closed. */
  stop(): Promise<void>;
}

/**
 * The health of a client from before the connection to a new one after the loss of everything.
 *
 * @param suspended health while no server can be reached and the locks may still be held
 */
export function clientStatusLossSuite(
  name: string,
  start: () => Promise<ShortLived>,
  suspended: 'degraded' | 'down',
): void {
  describe(`A client on ${name}`, () => {
    let servers: ShortLived;

    beforeEach(async () => void (servers = await start()), 60_000);
    afterEach(async () => {
      await servers.client.close();
      await servers.stop();
    });

    it('is down before it is connected, and once its locks are lost, until the servers are back', async () => {
      const { client } = servers;
      const told: LockClientStatus[] = [];
      client.on('connection', () => told.push(client.status()));
      const toldOf = (state: string) => told.find((status) => status.state === state);

      expect(client.status()).toMatchObject({ health: 'down', state: 'CONNECTING', held: 0 });
      await client.connect();
      expect(client.status()).toMatchObject({ health: 'up', state: 'CONNECTED' });
      const lease = await client.mutex('key').acquire();

      await servers.kill();
      await eventually('it is suspended', () => toldOf('SUSPENDED'));
      expect(toldOf('SUSPENDED')).toMatchObject({ health: suspended });
      await eventually('it is lost', () => client.status().state === 'LOST');
      expect(client.status()).toMatchObject({ health: 'down', held: 0 });
      expect(client.status().sessionId).toBeUndefined();
      expect(lease.isHeld).toBe(false);

      await servers.restart();
      await eventually('it is up again', () => client.status().health === 'up', {
        within: 20_000,
      });
      await lease.release();
      await client.mutex('key').using(async () => {
        expect(client.status()).toMatchObject({ health: 'up', held: 1 });
      });
    });
  });
}
