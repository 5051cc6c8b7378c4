import type { RedisArgument } from '../../../redis/connection/ioredis.js';

/** What a server answers. Its texts are bytes: strings of which each character is one byte. */
export type Reply = number | string | null | StatusReply | ErrorReply | readonly Reply[];

export class StatusReply {
  constructor(readonly text: string) {}
}

export class ErrorReply {
  constructor(readonly text: string) {}
}

export const OK = new StatusReply('OK');

/** Ends a command with an error. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export const Errors = {
  type: 'WRONGTYPE Operation against a key holding the wrong kind of value',
  integer: 'ERR value is not an integer or out of range',
  float: 'ERR value is not a valid float',
  bounds: 'ERR min or max is not a float',
  syntax: 'ERR syntax error',
  overflow: 'ERR increment or decrement would overflow',
  noScript: 'NOSCRIPT No matching script. Please use EVAL.',
  readOnly: "READONLY You can't write against a read only replica.",
  full: "OOM command not allowed when used memory > 'maxmemory'.",
  busy: 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  loading: 'LOADING Redis is loading the dataset in memory',
} as const;

export function fail(text: string): never {
  throw new CommandError(text);
}

/** The bytes of an argument, as they are sent. */
export function toBytes(argument: RedisArgument): string {
  if (typeof argument === 'number') return String(argument);
  if (typeof argument !== 'string') return argument.toString('latin1');
  const isAscii = Buffer.byteLength(argument) === argument.length;
  return isAscii ? argument : Buffer.from(argument).toString('latin1');
}

/** The text that these bytes are in UTF-8. */
export function fromBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}
