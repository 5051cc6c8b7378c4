import { OpCode } from './op-code.js';

const HEADER = 4 + 4 + 4; // length, xid, type

/** A request as a client sent it. */
export interface ZooKeeperRequest {
  /** One of `OpCode`. */
  readonly opcode: number;
  /** Number by which the reply refers to it. */
  readonly xid: number;
  /** The path that it is about; empty for requests without one. */
  readonly path: string;
}

/** The first frame of a connection: it has no header. */
export const CONNECT_REQUEST: ZooKeeperRequest = {
  opcode: OpCode.createSession,
  xid: 0,
  path: '',
};

/** Reads a request from its frame. */
export function parseRequest(frame: Buffer): ZooKeeperRequest {
  const opcode = frame.readInt32BE(8);
  return { opcode, xid: frame.readInt32BE(4), path: PATHLESS.has(opcode) ? '' : readPath(frame) };
}

/** The number of the request that a reply answers; negative for watch events and pings. */
export function replyXid(frame: Buffer): number {
  return frame.readInt32BE(4);
}

const PATHLESS = new Set<number>([
  OpCode.closeSession,
  OpCode.ping,
  OpCode.multi,
  OpCode.auth,
  OpCode.setWatches,
  OpCode.setWatches2,
]);

function readPath(frame: Buffer): string {
  if (frame.length < HEADER + 4) return '';
  const length = frame.readInt32BE(HEADER);
  return frame.toString('utf8', HEADER + 4, HEADER + 4 + length);
}
