import { EmbeddedServer, type EmbeddedServerOptions } from '../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../lib/embedded/embedded-transport.js';
import type { Session } from '../../lib/zookeeper/connection/session.js';
import type { Backend } from './backend.js';

const NOBODY = {
  onConnected: () => {},
  onDisconnected: () => {},
  onExpired: () => {},
  onWatch: () => {},
};

/** An embedded tree, in real time. */
export class EmbeddedBackend implements Backend {
  readonly #server: EmbeddedServer;

  constructor(options?: EmbeddedServerOptions) {
    this.#server = new EmbeddedServer(options);
  }

  async connect() {
    return { transport: new EmbeddedTransport(this.#server), servers: embeddedServers };
  }

  async expire({ id }: Session): Promise<void> {
    this.#server.expire(id);
  }

  freeze(): void {
    this.#server.freeze();
  }

  thaw(): void {
    this.#server.thaw();
  }

  async kill(sessions: readonly Session[]): Promise<void> {
    this.freeze();
    for (const session of sessions) this.#hangUp(session);
  }

  async restart(): Promise<void> {
    this.thaw();
  }

  async stop(): Promise<void> {}

  /** A session has one connection: a client that attaches to it ends the one before. */
  #hangUp(credentials: Session): void {
    const address = { host: 'embedded', port: 0 };
    this.#server.connect({ address, credentials, sessionTimeout: Infinity, auth: [] }, NOBODY);
  }
}
