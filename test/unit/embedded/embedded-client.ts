import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import type {
  LinkListener,
  OpenOptions,
  Request,
  SessionCredentials,
} from '../../../lib/zookeeper/connection/transport.js';
import type { Caller, Outcome } from '../../../lib/embedded/request-processor.js';
import type { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';

/** Talks to an embedded server without a transport between, and writes down what it hears. */
export class EmbeddedClient implements LinkListener {
  readonly heard: string[] = [];
  credentials?: SessionCredentials;
  readonly caller?: Caller;

  constructor(
    private readonly server: EmbeddedServer,
    options: Partial<OpenOptions> = {},
  ) {
    const address = { host: 'embedded', port: 0 };
    this.caller = server.connect({ address, sessionTimeout: 10_000, auth: [], ...options }, this);
  }

  onConnected(credentials: SessionCredentials): void {
    this.credentials = credentials;
  }

  onDisconnected(reason: string): void {
    this.heard.push(`disconnected: ${reason}`);
  }

  onExpired(): void {
    this.heard.push('expired');
  }

  onWatch(type: string, path: string): void {
    this.heard.push(`${type} ${path}`);
  }

  send(request: Request): Outcome | undefined {
    return this.server.process(request, this.caller!);
  }

  /** The path as made, or the code. */
  create(path: string, mode: CreateMode = CreateMode.PERSISTENT, data = ''): unknown {
    return this.#answer({ op: 'create', path, data: Buffer.from(data), mode });
  }

  /** 0, or the code. */
  delete(path: string, version = -1): number {
    return this.send({ op: 'delete', path, version })!.rc;
  }

  /** The stat, or the code. */
  exists(path: string, watch = false): unknown {
    return this.#answer({ op: 'exists', path, watch });
  }

  /** Data and stat, or the code. */
  getData(path: string, watch = false): unknown {
    return this.#answer({ op: 'getData', path, watch });
  }

  /** The stat, or the code. */
  setData(path: string, data: string, version = -1): unknown {
    return this.#answer({ op: 'setData', path, data: Buffer.from(data), version });
  }

  /** The names, or the code. */
  getChildren(path: string, watch = false): unknown {
    return this.#answer({ op: 'getChildren', path, watch });
  }

  /** 0, or the code. */
  setAcl(path: string, perms: number, scheme: string, id: string): number {
    return this.send({ op: 'setAcl', path, acl: [{ perms, scheme, id }] })!.rc;
  }

  #answer(request: Request): unknown {
    const { rc, answer } = this.send(request)!;
    return rc === 0 ? answer : rc;
  }
}
