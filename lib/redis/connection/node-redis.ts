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

/** Where a client of node-redis connects to, and with what. */
export interface NodeRedisOptions {
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly database?: number;
}

/** Where that client connects to. */
export function nodeRedisAddress(client: NodeRedisClient): NonNullable<NodeRedisOptions['socket']> {
  return optionsOf(client).socket ?? {};
}

/** The options that it was made of. */
export function optionsOf(client: NodeRedisClient): NodeRedisOptions {
  return (Reflect.get(client, 'options') ?? {}) as NodeRedisOptions;
}

/** Whether it is a client of node-redis for one server. */
export function isNodeRedis(value: unknown): value is NodeRedisClient {
  if (typeof value !== 'object' || value === null || !('isOpen' in value)) return false;
  const methods = ['sendCommand', 'duplicate', 'destroy', 'sSubscribe', 'on', 'unref'];
  return methods.every((it) => typeof Reflect.get(value, it) === 'function');
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

/** Makes the client of one connection to the server of the user's client, which is left alone. */
export function connectionOf(user: NodeRedisClient): NodeRedisClient {
  return user.duplicate({ ...OURS, socket: { ...optionsOf(user).socket, ...OUR_SOCKET } });
}
