import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/**
 * Finds ports that have no listener, and that no other test gets: a server that is down for a moment comes back on its own.
 *
 * They lie below the range from which the system takes the source ports of outgoing connections. From inside
 * that range, a server that is down for a moment could lose its port to any client, and a client that tries to
 * reach it could even connect to itself.
 *
 * @param count how many, all different
 * @param host the loopback address that they must be free on
 */
export async function freePorts(count: number, host: string): Promise<number[]> {
  const held: Server[] = [];
  try {
    while (held.length < count) {
      const port = anyOfOurs();
      const server = given.has(port) ? undefined : await listen(port, host);
      if (server === undefined) continue;
      given.add(port);
      held.push(server);
    }
    return held.map((server) => (server.address() as { port: number }).port);
  } finally {
    await Promise.all(held.map((server) => new Promise((done) => server.close(done))));
  }
}

const LOWEST = 10_000;
/** Into so many parts the ports are divided among the workers of Jest, which do not know what the others have down. */
const PARTS = 8;

/** Those of this test file. */
const given = new Set<number>();

function anyOfOurs(): number {
  const size = Math.floor((firstOutgoingPort() - LOWEST) / PARTS);
  const part = Number(process.env.JEST_WORKER_ID ?? 0) % PARTS;
  return LOWEST + part * size + randomInt(size);
}

function firstOutgoingPort(): number {
  try {
    const [first] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/);
    return Math.max(Number(first), LOWEST + 10_000);
  } catch {
    return 32_768;
  }
}

function listen(port: number, host: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(port, host, () => resolve(server));
  });
}
