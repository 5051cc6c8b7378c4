import { type NodeRedisClient, NodeRedisNode, type NodeRedisOptions } from './node-redis-node.js';

export type { NodeRedisClient };

/** Where that client connects to. */
export function nodeRedisAddress(client: NodeRedisClient): NonNullable<NodeRedisOptions['socket']> {
  return optionsOf(client).socket ?? {};
}

function optionsOf(client: NodeRedisClient): NodeRedisOptions {
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
const OUR_SOCKET = { reconnectStrategy: false, socketTimeout: undefined };

/** A connection to the server of the user's client, which is left alone. */
export function nodeOf(user: NodeRedisClient, longestSilence: number): NodeRedisNode {
  const make = () =>
    user.duplicate({ ...OURS, socket: { ...optionsOf(user).socket, ...OUR_SOCKET } });
  const options = optionsOf(user);
  return new NodeRedisNode({ make, options, longestSilence });
}
