import type {
  Answers,
  LinkListener,
  Request,
  SessionCredentials,
} from '../connection/transport.js';
import {
  type AclEntry,
  type AuthInfo,
  CreateMode,
  type Stat,
} from '../connection/zookeeper-connection.js';
import { isCanonicalPath } from '../connection/znode-path.js';
import { type JuteReader, type JuteWriter, ProtocolError } from './jute.js';

/** `ZooDefs.OpCode`: the types of requests, as far as they are used. */
export const OpCode = {
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  create2: 15,
  removeWatches: 18,
  createContainer: 19,
  auth: 100,
  sasl: 102,
  closeSession: -11,
} as const;

/** Numbers of the messages that are not answers to a numbered request. */
export const Xid = { EVENT: -1, PING: -2, AUTH: -4 } as const;

/** Length of a session's password in bytes. */
const PASSWORD_LENGTH = 16;

const OPEN: readonly AclEntry[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];

/** `Watcher.WatcherType`. */
const WATCHER_TYPE = { child: 1, data: 2 } as const;

/** `WatcherEvent.type`. */
const EVENTS = new Map([
  [1, 'created'],
  [2, 'deleted'],
  [3, 'changed'],
  [4, 'child'],
] as const);

export function writeConnectRequest(
  writer: JuteWriter,
  lastZxidSeen: number,
  timeout: number,
  credentials?: SessionCredentials,
): void {
  const { id = '0', password = '00'.repeat(PASSWORD_LENGTH) } = credentials ?? {};
  const sessionId = BigInt.asIntN(64, BigInt(`0x${id}`));
  writer.int(0).long(BigInt(lastZxidSeen)).int(Math.ceil(timeout)).long(sessionId);
  writer.buffer(Buffer.from(password, 'hex')).boolean(false); // no: a read-only server can grant nothing
}

/** `undefined` if the server knows no such session. */
export function readConnectResponse(reader: JuteReader): SessionCredentials | undefined {
  reader.int(); // the version of the protocol has always been 0
  const timeout = reader.int();
  const id = hexId(reader.long());
  // The native driver reads passwords in upper case only, and a session may pass from one driver to the other.
  const password = reader.buffer().toString('hex').toUpperCase();
  return timeout > 0 ? { id, password, timeout } : undefined;
}

export function writeAuth(writer: JuteWriter, { scheme, auth }: AuthInfo): void {
  writer.int(Xid.AUTH).int(OpCode.auth).int(0).text(scheme).buffer(Buffer.from(auth));
}

/** Whether every server accepts the path; it would answer some others with what they do not mean. */
export function isSendable(request: Request): boolean {
  const { path } = request;
  const isSequential =
    request.op === 'create' &&
    (request.mode === CreateMode.PERSISTENT_SEQUENTIAL ||
      request.mode === CreateMode.EPHEMERAL_SEQUENTIAL);
  return path === '/' || isCanonicalPath(isSequential ? `${path}0` : path);
}

/** Writes the type and the record of a request. */
export function writeRequest(writer: JuteWriter, request: Request): void {
  switch (request.op) {
    case 'create': {
      const { path, data, mode, acl = OPEN } = request;
      const isContainer = mode === CreateMode.CONTAINER;
      writer
        .int(isContainer ? OpCode.createContainer : OpCode.create2)
        .text(path)
        .buffer(data);
      return void writer.vector(acl, writeAcl).int(mode);
    }
    case 'delete':
      return void writer.int(OpCode.delete).text(request.path).int(request.version);
    case 'setData': {
      const { path, data, version } = request;
      return void writer.int(OpCode.setData).text(path).buffer(data).int(version);
    }
    case 'setAcl':
      return void writer
        .int(OpCode.setAcl)
        .text(request.path)
        .vector(request.acl, writeAcl)
        .int(-1);
    case 'sync':
      return void writer.int(OpCode.sync).text(request.path);
    case 'removeWatches':
      return void writer
        .int(OpCode.removeWatches)
        .text(request.path)
        .int(WATCHER_TYPE[request.kind]);
    case 'exists':
    case 'getData':
    case 'getChildren':
      return void writer.int(OpCode[request.op]).text(request.path).boolean(request.watch);
  }
}

/** Reads the record of an answer. */
export function readAnswer(reader: JuteReader, op: Request['op']): Answers[keyof Answers] {
  switch (op) {
    case 'create':
      return { path: reader.text(), czxid: reader.count() }; // the rest of its stat follows
    case 'exists':
    case 'setData':
      return readStat(reader);
    case 'getData':
      return { data: reader.buffer(), stat: readStat(reader) };
    case 'getChildren':
      return reader.vector(4, (names) => names.text());
    case 'delete':
    case 'setAcl':
    case 'removeWatches':
    case 'sync':
      return undefined;
  }
}

export function readEvent(reader: JuteReader): {
  type: Parameters<LinkListener['onWatch']>[0];
  path: string;
} {
  const code = reader.int();
  reader.int(); // the state of the connection
  const type = EVENTS.get(code as 1);
  if (type === undefined) throw new ProtocolError(`an event of type ${code}`);
  return { type, path: reader.text() };
}

function writeAcl(writer: JuteWriter, { perms, scheme, id }: AclEntry): void {
  writer.int(perms).text(scheme).text(id);
}

function readStat(reader: JuteReader): Stat {
  const [czxid, mzxid] = [reader.count(), reader.count()];
  const [ctime, mtime] = [new Date(reader.count()), new Date(reader.count())];
  const version = reader.int();
  reader.int(); // cversion
  reader.int(); // aversion
  const ephemeralOwner = hexId(reader.long());
  reader.int(); // length of the data
  const numChildren = reader.int();
  reader.long(); // pzxid
  return { czxid, mzxid, ctime, mtime, version, ephemeralOwner, numChildren };
}

/** Ids of sessions are unsigned. */
function hexId(id: bigint): string {
  return BigInt.asUintN(64, id).toString(16);
}
