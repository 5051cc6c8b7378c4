/** The part of a client of the package `redis` (node-redis), version 5 or 6, that is used here. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  duplicate(overrides?: object): NodeRedisClient;
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  subscribe(
    channel: string,
    listener: (message: string, channel: string) => unknown,
  ): Promise<void>;
  sSubscribe(
    channel: string,
    listener: (message: string, channel: string) => unknown,
  ): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  sUnsubscribe(channel: string): Promise<void>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  ref(): void;
  unref(): void;
}

/** The part of a cluster client of node-redis by which it is known. Only its options are read. */
export interface NodeRedisClusterClient {
  readonly isOpen: boolean;
  nodeClient(node: never): unknown;
  duplicate(overrides?: object): NodeRedisClusterClient;
}

/** Where a client of node-redis connects to, and with what. */
export interface NodeRedisOptions {
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly database?: number;
}

/** Address of a server. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Where servers can be reached that call themselves `host:port`, if it is elsewhere. */
export type NodeAddressMap =
  Readonly<Record<string, HostAndPort>> | ((address: string) => HostAndPort | undefined);

/** What is read of the options of `createCluster`. */
export interface NodeRedisClusterOptions {
  readonly rootNodes: readonly (NodeRedisOptions & { readonly url?: string })[];
  /** Options of the connection to each node. */
  readonly defaults?: NodeRedisOptions;
  readonly nodeAddressMap?: NodeAddressMap;
}

/** What is read of the options of `createSentinel`. */
export interface NodeRedisSentinelOptions {
  readonly name: string;
  readonly sentinelRootNodes: readonly HostAndPort[];
  /** Options of the connection to the master. */
  readonly nodeClientOptions?: NodeRedisOptions;
  /** Options of the connection to each Sentinel. */
  readonly sentinelClientOptions?: NodeRedisOptions;
  readonly nodeAddressMap?: NodeAddressMap;
}

/** What is used of the package `redis`. */
export interface NodeRedis {
  createClient(options: object): NodeRedisClient;
}

/** The options that it was made of. */
export function optionsOf(client: NodeRedisClient): NodeRedisOptions {
  return (Reflect.get(client, 'options') ?? {}) as NodeRedisOptions;
}

/** The options that it was made of; the property has no public name. */
export function clusterOptionsOf(
  cluster: NodeRedisClusterClient,
): NodeRedisClusterOptions | undefined {
  return Reflect.get(cluster, '_options') as NodeRedisClusterOptions | undefined;
}

const has = (value: unknown, methods: readonly string[]) =>
  typeof value === 'object' &&
  value !== null &&
  'isOpen' in value &&
  methods.every((it) => typeof Reflect.get(value, it) === 'function');

/** Whether it is a client of node-redis for one server. */
export function isNodeRedis(value: unknown): value is NodeRedisClient {
  return has(value, ['sendCommand', 'duplicate', 'destroy', 'sSubscribe', 'on', 'unref']);
}

/** Whether it is a client of node-redis for a cluster. */
export function isNodeRedisCluster(value: unknown): value is NodeRedisClusterClient {
  return (
    has(value, ['sendCommand', 'duplicate', 'nodeClient']) &&
    clusterOptionsOf(value as NodeRedisClusterClient)?.rootNodes !== undefined
  );
}

/** Whether it is a client of node-redis that asks Sentinels. */
export function isNodeRedisSentinel(value: unknown): boolean {
  return has(value, ['sendCommand', 'getSentinelNode']);
}

/** What each of our connections is set to, whatever the user's client is. */
const OURS = {
  url: undefined, // it is in the other options by now, and would override them
  RESP: 2,
  disableOfflineQueue: true,
  commandsQueueMaxLength: undefined,
  commandOptions: { timeout: undefined },
  clientSideCache: undefined,
  emitInvalidate: undefined,
  maintNotifications: 'disabled',
  readonly: false,
};
const OUR_SOCKET = {
  reconnectStrategy: false, // each is used for one connection: see `NodeRedisNode`
  socketTimeout: undefined,
};

/** A server that node-redis connects to. */
export interface NodeRedisServer {
  /** Where it is, as ioredis would have it. */
  readonly options: object;
  /**
   * Makes the client of one connection, not connected yet.
   *
   * @param signal aborts when it is not wanted any more
   */
  newClient(signal: AbortSignal): NodeRedisClient | Promise<NodeRedisClient>;
}

/** The server of a user's client, which is left alone. */
export function serverOf(client: NodeRedisClient): NodeRedisServer {
  const { socket = {}, database } = optionsOf(client);
  return {
    options: { host: socket.host, port: socket.port, path: socket.path, db: database },
    newClient: () => connectionTo(client, {}),
  };
}

/** The server at that address; all else is as in a client of the user's, or in one made of the user's options. */
export function serverAt(
  { host, port }: HostAndPort,
  client: () => NodeRedisClient,
): NodeRedisServer {
  return { options: { host, port }, newClient: () => connectionTo(client(), { host, port }) };
}

/** Makes the client of one connection. */
export function connectionTo(
  client: NodeRedisClient,
  address: Partial<HostAndPort>,
): NodeRedisClient {
  const socket = { ...optionsOf(client).socket, ...address, ...OUR_SOCKET };
  return client.duplicate({ ...OURS, socket });
}

/** Where the server can be reached that calls itself by this address. */
export function reachable(address: HostAndPort, map: NodeAddressMap | undefined): HostAndPort {
  const name = `${address.host}:${address.port}`;
  return (typeof map === 'function' ? map(name) : map?.[name]) ?? address;
}
