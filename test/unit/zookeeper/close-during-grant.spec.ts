import { expect, it } from '@jest/globals';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';

/** More than there are between the event of a watch and the lease. */
const MOST_TICKS = 40;

it('lets no waiter hold a lock after close() was called, at whatever moment of the grant that is', async () => {
  const outcomes = new Set<string>();
  for (let ticks = 0; ticks < MOST_TICKS; ticks++) outcomes.add(await closeDuringGrant(ticks));
  expect([...outcomes]).toEqual(['LOCK_CLIENT_CLOSED', 'lost lease']);
});

/** Closes a client that many promise continuations after the waiter has heard that its turn has come. */
async function closeDuringGrant(ticks: number): Promise<string> {
  const { transport, servers } = await new EmbeddedBackend().connect();
  const client = new Client(transport, servers, {});
  await client.locks.connect();
  const mutex = client.mutex('door');
  const holder = await mutex.acquire();
  const waiting = mutex.acquire();
  await new Promise<void>((resolve) => client.locks.on('contended', () => resolve()));
  const [first] = await mutex.participants();

  let closing!: Promise<void>;
  const closed = new Promise<void>((resolve) => {
    const close = async () => {
      for (let i = 0; i < ticks; i++) await Promise.resolve();
      closing = client.locks.close();
      resolve();
    };
    void client.connection.getData(first!, () => void close());
  });
  void holder.release();
  await closed;
  try {
    const lease = await waiting;
    return lease.isHeld ? 'held lease' : 'lost lease';
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await closing;
  }
}
