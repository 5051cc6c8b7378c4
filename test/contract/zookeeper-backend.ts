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
    await eventually('the client knows', async () => {
      await endSession(this.servers[0]!.connectString, session); // again: the driver may lose the request as it closes
      return !session.isAlive;
    });
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
