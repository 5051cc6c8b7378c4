import type { Clock } from '../../../core/clock.js';
import { type ErrorReply, fromBytes, type Reply, StatusReply } from '../server/reply.js';
import type { Link, LinkListener } from './link.js';

/** What a client of `ioredis` needs from its process. */
export interface NodeHost {
  readonly clock: Clock;
  /** @param address `host:port` */
  open(listener: LinkListener, address: string): Link;
  /** What is read from a socket comes to the process by this. */
  receive(message: () => void): void;
}

/** The options of a `Redis` of ioredis that are read here. */
export interface NodeOptions {
  readonly host?: string;
  readonly port?: number;
  readonly lazyConnect?: boolean;
  readonly connectTimeout?: number;
  readonly socketTimeout?: number;
  readonly maxRetriesPerRequest?: number | null;
  readonly retryStrategy?: ((attempt: number) => unknown) | null;
}

/** The defaults of ioredis. */
export const DEFAULTS = {
  host: 'localhost',
  port: 6379,
  connectTimeout: 10_000,
  maxRetriesPerRequest: 20,
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 2_000),
} satisfies NodeOptions;

/** What ioredis makes of a reply. */
export function valueOf(reply: Reply): unknown {
  if (reply instanceof StatusReply) return reply.text;
  if (typeof reply === 'string') return fromBytes(reply);
  return Array.isArray(reply) ? reply.map(valueOf) : reply;
}

/** What ioredis rejects with. */
export function errorOf({ text }: ErrorReply): Error {
  const error = new Error(fromBytes(text));
  error.name = 'ReplyError';
  return error;
}
