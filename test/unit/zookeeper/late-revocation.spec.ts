import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { revocationsOf } from '../../contract/revocations-of.js';
import { eventually } from '../../support/eventually.js';
import { FaultyTransport } from '../../support/faulty-transport.js';

describe('A revocation while the holder alone has lost its connection', () => {
  let network: FaultyTransport;
  let mine: Client;
  let theirs: Client;

  beforeEach(async () => {
    const { transport, servers } = await new EmbeddedBackend().connect();
    network = new FaultyTransport(transport, systemClock);
    mine = new Client(network, servers, {});
    theirs = new Client(transport, servers, {});
    await Promise.all([mine.locks.connect(), theirs.locks.connect()]);
  });
  afterEach(() => Promise.all([mine.locks.close(), theirs.locks.close()]));

  it('is reported once when the holder is back, however often it was asked for, not again after the next loss', async () => {
    const lease = await mine.mutex('door').acquire();
    const told = revocationsOf(lease);
    await lease.fencingToken(); // it watches its node by now
    await away(async () => {
      for (let time = 0; time < 3; time++)
        expect(await theirs.locks.revoke(lease.paths[0]!)).toBe(true);
    });
    await eventually('its listener is called', () => told.length > 0);
    await away(async () => {});
    await mine.connection.exists('/'); // answered behind its look at the node
    expect(told).toEqual([lease]);
    expect(lease.isHeld).toBe(true);
  });

  it('is reported when the holder is back, also to a listener that was added meanwhile', async () => {
    const lease = await mine.mutex('door').acquire();
    const told: unknown[] = [];
    await away(async () => {
      lease.makeRevocable((revoked) => told.push(revoked));
      await theirs.locks.revoke(lease.paths[0]!);
      expect(told).toEqual([]);
    });
    await eventually('its listener is called', () => told.length > 0);
    await mine.connection.exists('/');
    expect(told).toEqual([lease]);
  });

  it('is reported to the waiter that was asked, once it holds and listens', async () => {
    const holder = await theirs.mutex('door').acquire();
    const waiting = mine.mutex('door').acquire();
    const [, waiter] = await eventually('it queues', async () => {
      const queue = await theirs.mutex('door').participants();
      return queue.length === 2 && queue;
    });
    await away(async () => {
      await theirs.locks.revoke(waiter!);
      await holder.release();
    });
    const lease = await waiting;
    const told = revocationsOf(lease);
    await eventually('its listener is called', () => told.length > 0);
    expect(lease.paths).toEqual([waiter]);
  });

  /** Runs `work` while the holder cannot reach the servers; resolves when it can again. */
  async function away(work: () => Promise<void>): Promise<void> {
    network.isRefusing = true;
    network.cut();
    await eventually('it is away', () => !mine.connection.isConnected);
    await work();
    network.isRefusing = false;
    await eventually('it is back', () => mine.connection.isConnected);
  }
});
