import { NativeTransport } from '../../lib/zookeeper/connection/native-transport.js';
import { ServerList } from '../../lib/zookeeper/connection/server-list.js';
import type { Session } from '../../lib/zookeeper/connection/session.js';
import { endSession } from '../support/end-session.js';
import { eventually } from '../support/eventually.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import type { Backend } from './backend.js';

/** Real servers: one, or those of an ensemble. */
export class ZooKeeperBackend implements Backend {
  #clients = 0;

  constructor(private readonly servers: readonly ZooKeeperServer[]) {}

  async connect() {
    const server = this.servers[this.#clients++ % this.servers.length]!;
    return {
      transport: await NativeTransport.load(),
      servers: new ServerList([server], Math.random),
    };
  }

  async expire(session: Session): Promise<void> {
    await eventually('the session has ended', async () => {
      const hasEnded = await endSession(this.servers[0]!.connectString, session);
      return hasEnded || !session.isAlive; // again: the driver may lose the request as it closes
    });
    // A reconnect of the driver's in this same turn may hear nothing: then the next one comes 5 s later.
    await eventually('the client knows', () => !session.isAlive, { within: 20_000 });
  }

  freeze(): void {
    for (const server of this.servers) server.freeze();
  }

  thaw(): void {
    for (const server of this.servers) server.thaw();
  }

  async kill(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }

  async restart(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.restart()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
