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
  type Operation,
  type OperationAnswers,
  type Stat,
} from '../connection/zookeeper-connection.js';
import { isCanonicalPath } from '../connection/znode-path.js';
import { ReturnCode } from '../connection/zookeeper-error.js';
import { type JuteReader, type JuteWriter, ProtocolError } from './jute.js';

/** `ZooDefs.OpCode`: the types of requests, as far as they are used. */
export const OpCode = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  check: 13,
  multi: 14,
  create2: 15,
  removeWatches: 18,
  createContainer: 19,
  auth: 100,
  sasl: 102,
  closeSession: -11,
} as const;

/** Numbers of the messages that are not answers to a numbered request. */
export const Xid = { EVENT: -1, PING: -2, AUTH: -4 } as const;

/** Type of the answer to an operation of a `multi` that was not carried out. */
const ERROR = -1;

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

/** Whether every server accepts the paths; it would answer some others with what they do not mean. */
export function isSendable(request: Request | Operation): boolean {
  if (request.op === 'multi')
    return request.operations.length > 0 && request.operations.every(isSendable);
  const { path } = request;
  const isSequential =
    request.op === 'create' &&
    (request.mode === CreateMode.PERSISTENT_SEQUENTIAL ||
      request.mode === CreateMode.EPHEMERAL_SEQUENTIAL);
  return path === '/' || isCanonicalPath(isSequential ? `${path}0` : path);
}

/** Writes the type and the record of a request. */
export function writeRequest(writer: JuteWriter, request: Request): void {
  writeRecord(writer.int(typeOf(request)), request);
}

function typeOf(request: Request | Operation, create: 'create' | 'create2' = 'create2'): number {
  if (request.op !== 'create') return OpCode[request.op];
  return OpCode[request.mode === CreateMode.CONTAINER ? 'createContainer' : create];
}

function writeRecord(writer: JuteWriter, request: Request | Operation): void {
  switch (request.op) {
    case 'create': {
      const { path, data, mode, acl = OPEN } = request;
      return void writer.text(path).buffer(data).vector(acl, writeAcl).int(mode);
    }
    case 'delete':
    case 'check':
      return void writer.text(request.path).int(request.version);
    case 'setData':
      return void writer.text(request.path).buffer(request.data).int(request.version);
    case 'setAcl':
      return void writer.text(request.path).vector(request.acl, writeAcl).int(-1);
    case 'sync':
      return void writer.text(request.path);
    case 'removeWatches':
      return void writer.text(request.path).int(WATCHER_TYPE[request.kind]);
    case 'exists':
    case 'getData':
    case 'getChildren':
      return void writer.text(request.path).boolean(request.watch);
    case 'multi':
      for (const operation of request.operations) {
        // As Java's client does. Servers answer `create2` in the same way here, without a stat.
        writer.int(typeOf(operation, 'create')).boolean(false).int(-1);
        writeRecord(writer, operation);
      }
      return void writer.int(-1).boolean(true).int(-1);
  }
}

/** Reads the record of the answer to a request. */
export function readAnswer(
  reader: JuteReader,
  { op, operations = [] }: Pick<Request | Operation, 'op'> & { operations?: readonly Operation[] },
): Answers[keyof Answers] {
  switch (op) {
    case 'create':
      return { path: reader.text(), czxid: readStat(reader).czxid };
    case 'exists':
    case 'setData':
      return readStat(reader);
    case 'getData':
      return { data: reader.buffer(), stat: readStat(reader) };
    case 'getChildren':
      return reader.vector(4, (names) => names.text());
    case 'multi':
      return readMultiAnswer(reader, operations);
    case 'delete':
    case 'check':
    case 'setAcl':
    case 'removeWatches':
    case 'sync':
      return undefined;
  }
}

/** If it fails, the operation that is to blame has the code; those before it have 0, and those behind it another. */
function readMultiAnswer(reader: JuteReader, operations: readonly Operation[]): Answers['multi'] {
  const answers: OperationAnswers[Operation['op']][] = [];
  let failure: { failed: number; rc: number } | undefined;
  for (const [failed, operation] of operations.entries()) {
    const type = readMultiHeader(reader, false);
    if (type === OpCode.create) answers.push({ path: reader.text() });
    else if (type !== ERROR)
      answers.push(readAnswer(reader, operation) as (typeof answers)[number]);
    if (type !== ERROR) continue;
    const rc = reader.int();
    if (rc !== ReturnCode.OK && rc !== ReturnCode.RUNTIMEINCONSISTENCY) failure ??= { failed, rc };
  }
  readMultiHeader(reader, true);
  if (failure) return failure;
  if (answers.length === operations.length) return { answers };
  throw new ProtocolError('a multi that was not carried out, and no reason');
}

/** The type of the answer that follows, unless this is to be the end. */
function readMultiHeader(reader: JuteReader, isEnd: boolean): number {
  const type = reader.int();
  if (reader.boolean() !== isEnd) throw new ProtocolError('a multi with another number of answers');
  reader.int(); // an error, which follows again
  return type;
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
