import { expect, it } from '@jest/globals';
import type { Transport } from '../../../lib/zookeeper/connection/transport.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';

/** More than there are between the answer that grants a permit and the lease. */
const MOST_TICKS = 60;

it('lets no waiter hold a permit after close() was called, at whatever moment of the grant that is', async () => {
  const outcomes = new Set<string>();
  for (let ticks = 0; ticks < MOST_TICKS; ticks++)
    outcomes.add(await endDuringGrant(ticks, ({ locks }) => void locks.close()));
  expect([...outcomes]).toEqual(['LOCK_CLIENT_CLOSED', 'lost lease']);
});

it('grants a permit or leaves nothing when its signal aborts, at whatever moment of the grant that is', async () => {
  const outcomes = new Set<string>();
  for (let ticks = 0; ticks < MOST_TICKS; ticks++)
    outcomes.add(await endDuringGrant(ticks, (_, stop) => stop.abort()));
  expect([...outcomes]).toEqual(['LOCK_ABORTED, 0 left', 'held lease']);
});

/** Ends an acquire that many promise continuations after the answer that a permit is free. */
async function endDuringGrant(
  ticks: number,
  end: (client: Client, stop: AbortController) => void,
): Promise<string> {
  const { transport, servers } = await new EmbeddedBackend().connect();
  let onListed = () => {};
  const client = new Client(
    tapped(transport, () => onListed()),
    servers,
    {},
  );
  await client.locks.connect();
  const semaphore = client.locks.semaphore('pool', { permits: 1 });
  const holder = await semaphore.acquire();
  const stop = new AbortController();
  const waiting = semaphore.acquire({ signal: stop.signal });
  waiting.catch(() => {}); // read below
  await new Promise<void>((resolve) => client.locks.on('contended', () => resolve()));
  await client.connection.exists('/'); // when that is answered, it listens

  const ended = new Promise<void>((resolve) => {
    onListed = () => {
      onListed = () => {};
      void afterTicks(ticks).then(() => {
        end(client, stop);
        resolve();
      });
    };
  });
  await Promise.all([holder.release(), ended]);
  try {
    const { isHeld } = await waiting;
    return isHeld ? 'held lease' : 'lost lease';
  } catch (error) {
    if (!stop.signal.aborted) return (error as { code: string }).code;
    const left = await semaphore.participants();
    return `${(error as { code: string }).code}, ${left.length} left`;
  } finally {
    await client.locks.close();
  }
}

async function afterTicks(ticks: number): Promise<void> {
  for (let i = 0; i < ticks; i++) await Promise.resolve();
}

/** Calls `onListed` just before a list of children is answered. */
function tapped(transport: Transport, onListed: () => void): Transport {
  return {
    open: (options, listener) => {
      const link = transport.open(options, listener);
      return {
        request: (request, reply) =>
          link.request(request, (...answer) => {
            if (request.op === 'getChildren') onListed();
            reply(...answer);
          }),
        detach: (session) => link.detach(session),
        close: () => link.close(),
      };
    },
    close: () => transport.close(),
  };
}
