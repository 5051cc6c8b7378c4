import { expect, it } from '@jest/globals';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';

it('tells the lease of what was asked while its node was waiting', async () => {
  const { transport, servers } = await new EmbeddedBackend().connect();
  const client = new Client(transport, servers, {});
  await client.locks.connect();
  const mutex = client.locks.mutex('door');
  const holder = await mutex.acquire();
  const waiting = mutex.acquire();
  await eventually('it waits', async () => (await mutex.participants()).length === 2);
  const waiter = (await mutex.participants())[1]!;
  await client.locks.revoke(waiter);
  const reads = () => client.requests.filter(({ op, path }) => op === 'getData' && path === waiter);
  await eventually('it has read its node again', () => reads().length === 2);
  await client.connection.sync('/'); // and has the answer
  await holder.release();

  const lease = await waiting;
  const asked = new Promise<void>((resolve) => lease.makeRevocable(() => resolve()));
  await asked;
  expect(lease.isHeld).toBe(true);
  await client.locks.close();
});
