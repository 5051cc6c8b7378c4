import { expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/system-clock.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';
import { FaultyTransport } from '../../support/faulty-transport.js';

it('lets no writer read on whose node was deleted, though it asks before it could hear of that', async () => {
  const backend = new EmbeddedBackend();
  const { transport, servers } = await backend.connect();
  const network = new FaultyTransport(transport, systemClock);
  const mine = new Client(network, servers, {});
  const theirs = new Client(transport, servers, {});
  await Promise.all([mine.locks.connect(), theirs.locks.connect()]);

  const writer = await mine.locks.readWriteLock('door').writeLock().acquire();
  await writer.fencingToken(); // it watches its node, so it need not look before it asks
  network.partition();
  await theirs.connection.delete(writer.paths[0]!);
  const other = await theirs.writeLock('door').acquire();
  expect([writer.isHeld, other.isHeld]).toEqual([true, true]); // nobody could know better

  const asked = mine.requests.length;
  const reading = writer.run(() => mine.readLock('door').tryAcquire());
  await eventually('it asks', () => mine.requests.length > asked);
  network.heal();
  expect(await reading).toBeUndefined();
  expect([writer.isHeld, other.isHeld]).toEqual([false, true]);
  const children = await theirs.connection.getChildren('/locks/door');
  expect(children).toEqual([expect.stringMatching(/__WRIT__0000000001$/)]);

  await Promise.all([mine.locks.close(), theirs.locks.close()]);
});
