import type { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import type { Caller, Outcome } from '../../../lib/embedded/request-processor.js';
import type {
  LinkListener,
  OpenOptions,
  Request,
  SessionCredentials,
  Transport,
} from '../../../lib/zookeeper/connection/transport.js';
import {
  type Created,
  CreateMode,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';

const OPTIONS: OpenOptions = {
  address: { host: 'embedded', port: 0 },
  sessionTimeout: 10_000,
  auth: [],
};

export const exists = (path: string, watch = false): Request => ({ op: 'exists', path, watch });
export const create = (path: string, mode: CreateMode = CreateMode.EPHEMERAL): Request => ({
  op: 'create',
  path,
  data: Buffer.alloc(0),
  mode,
});

/** A link of which everything that it says is written down, each line behind what `prefix` returns. */
export function open(
  transport: Transport,
  options: Partial<OpenOptions> = {},
  { heard = [], prefix = () => '' }: { heard?: string[]; prefix?: () => string } = {},
) {
  const said: { credentials?: SessionCredentials } = {};
  const hear = (what: string) => void heard.push(prefix() + what);
  const link = transport.open(
    { ...OPTIONS, ...options },
    {
      onConnected: (credentials) => {
        said.credentials = credentials;
        hear('connected');
      },
      onDisconnected: (reason) => hear(`disconnected: ${reason}`),
      onExpired: () => hear('expired'),
      onWatch: (type, path) => hear(`${type} ${path}`),
    },
  );
  const send = (request: Request) => link.request(request, (rc) => hear(`${request.op} ${rc}`));
  return { link, heard, said, send };
}

/** Talks to an embedded server without a transport between, and writes down what it hears. */
export class EmbeddedClient implements LinkListener {
  readonly heard: string[] = [];
  credentials?: SessionCredentials;
  readonly caller?: Caller;

  constructor(
    private readonly server: EmbeddedServer,
    options: Partial<OpenOptions> = {},
  ) {
    this.caller = server.connect({ ...OPTIONS, ...options }, this);
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
    const made = this.#answer({ op: 'create', path, data: Buffer.from(data), mode });
    return typeof made === 'number' ? made : (made as Created).path;
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
