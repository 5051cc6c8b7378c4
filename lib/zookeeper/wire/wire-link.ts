import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../core/clock.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  SessionCredentials,
  TransportLink,
} from '../connection/transport.js';
import { codeName, ReturnCode } from '../connection/zookeeper-error.js';
import { destroyUnlessEnded, NOT_ACCEPTED, socketFailure } from './closing-socket.js';
import { DigestMd5, type ZooKeeperSaslOptions } from './digest-md5.js';
import { FrameDelivery } from './frame-delivery.js';
import { FrameReader } from './frame-reader.js';
import { FrameWriter } from './frame-writer.js';
import { JuteReader, type JuteWriter, ProtocolError } from './jute.js';
import {
  isSendable,
  OpCode,
  readAnswer,
  readConnectResponse,
  readEvent,
  writeAuth,
  writeConnectRequest,
  writeRequest,
  Xid,
} from './records.js';
import { RequestTable } from './request-table.js';

/** The latest transaction that the links of one session have seen. A server that is behind it refuses the session. */
export interface SeenZxid {
  /** Its id; none as long as the servers have not opened it. */
  session?: string | undefined;
  zxid: number;
}

/** What a link needs besides the options that it is opened with. */
export interface WireLinkContext {
  readonly clock: Clock;
  readonly seen: SeenZxid;
  readonly sasl?: ZooKeeperSaslOptions | undefined;
  /** Called when the socket is closed for good. */
  readonly onClosed: (link: WireLink) => void;
}

/**
 * One socket with ZooKeeper's protocol on it.
 *
 * Invariants:
 * - Nothing is reported to the owner once `#isOver`: it has been told of the end, or has ended the link.
 * - Requests are sent only when the session is accepted and all credentials are.
 * - What was not understood ends the link: no answer is guessed.
 */
export class WireLink implements TransportLink {
  #isOver = false;
  /** True once the server has been asked for a session. */
  #hasGreeted = false;
  #isUp = false;
  #credentials?: SessionCredentials;
  /** Number of accepted entries of `options.auth`. */
  #accepted = 0;
  #failure = NOT_ACCEPTED;
  #timer?: Timer;
  readonly #frames = new FrameReader();
  readonly #delivery: FrameDelivery;
  readonly #out: FrameWriter;
  readonly #requests = new RequestTable();

  /**
   * @param socket that is connecting
   * @param readyEvent event of the socket after which it can be written to
   */
  constructor(
    private readonly socket: Socket,
    readyEvent: 'connect' | 'secureConnect',
    private readonly options: OpenOptions,
    private readonly listener: LinkListener,
    private readonly context: WireLinkContext,
  ) {
    this.#out = new FrameWriter(socket);
    const hear = (frame: Buffer) => this.#guard(() => this.#hear(new JuteReader(frame)));
    this.#delivery = new FrameDelivery(socket, this.#out, hear);
    socket.setNoDelay(true);
    socket.once('connect', () => this.listener.onProgress?.());
    socket.once(readyEvent, () => this.#greet());
    socket.on('data', (chunk: Buffer | string) => this.#read(chunk as Buffer)); // no encoding is set
    socket.on('error', (error) => (this.#failure = socketFailure(error, this.#failure)));
    socket.once('close', () => this.#closed());
  }

  request(request: Request, reply: Reply): void {
    if (this.#isOver || !this.#isUp) return void setImmediate(reply, ReturnCode.CONNECTIONLOSS);
    if (!isSendable(request)) return void setImmediate(reply, ReturnCode.BADARGUMENTS);
    this.#send(
      (writer) => writeRequest(writer, request),
      (rc, record) => (rc === 0 ? reply(rc, readAnswer(record, request)) : reply(rc)),
    );
  }

  /** The session lives on: without this link the server hears nothing from it that would keep it alive. */
  detach(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.socket.destroy();
  }

  /** Ends the session, also one that has only been asked for. The server answers, and hangs up. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    if (!this.#hasGreeted) return void this.socket.destroy();
    this.#send(
      (writer) => writer.int(OpCode.closeSession),
      () => {},
    );
    destroyUnlessEnded(this.socket, this.context.clock);
  }

  #greet(): void {
    const { sessionTimeout, credentials, auth } = this.options;
    if (this.#isOver) return;
    this.#hasGreeted = true;
    this.listener.onProgress?.();
    const { zxid } = this.context.seen;
    this.#out.write((writer) => writeConnectRequest(writer, zxid, sessionTimeout, credentials));
    for (const info of auth) this.#out.write((writer) => writeAuth(writer, info));
  }

  #send(
    write: (writer: JuteWriter) => void,
    answered: (rc: number, record: JuteReader) => void,
  ): void {
    const xid = this.#requests.nextXid;
    this.#out.write((writer) => write(writer.int(xid)));
    this.#requests.add(answered);
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#guard(() => this.#delivery.add(this.#frames.push(chunk)));
  }

  /** Ends the link if the server has sent nonsense. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#gone(error.message);
    }
  }

  #hear(message: JuteReader): void {
    if (this.#isOver) return;
    if (!this.#credentials) return this.#welcomed(message);
    const xid = message.int();
    const zxid = message.count();
    const rc = message.int();
    if (xid === Xid.PING) return;
    if (xid === Xid.AUTH) return this.#judged(rc);
    if (xid === Xid.EVENT) {
      const { type, path } = readEvent(message);
      return this.listener.onWatch(type, path);
    }
    if (zxid > this.context.seen.zxid) this.context.seen.zxid = zxid;
    this.#requests.answer(xid, rc, message);
  }

  #welcomed(message: JuteReader): void {
    this.#credentials = readConnectResponse(message);
    if (this.#credentials) {
      this.#failure = 'the server closed the connection before it accepted the credentials';
      this.context.seen.session = this.#credentials.id;
      return this.#proceed();
    }
    this.detach();
    this.listener.onExpired('the servers have expired the session');
  }

  #judged(rc: number): void {
    const scheme = this.options.auth[this.#accepted]?.scheme;
    if (scheme === undefined)
      throw new ProtocolError('a verdict on credentials that it was not given');
    if (rc !== 0) return this.#gone(`authentication (${scheme}) refused, ${codeName(rc)}`);
    this.#accepted += 1;
    this.#proceed();
  }

  /** Goes on with the next step to a link that is up. */
  #proceed(): void {
    this.listener.onProgress?.();
    if (this.#accepted < this.options.auth.length) return;
    if (this.context.sasl) this.#authenticate(new DigestMd5(this.context.sasl));
    else this.#up();
  }

  /** Asks for a challenge, answers it, and has the server prove in turn that it knows the password. */
  #authenticate(client: DigestMd5): void {
    this.#exchange(Buffer.alloc(0), (challenge) =>
      this.#exchange(client.respond(challenge), (proof) => {
        if (client.isProven(proof)) this.#up();
        else this.#gone('SASL: the server does not know the password');
      }),
    );
  }

  #exchange(token: Buffer, next: (token: Buffer) => void): void {
    this.#send(
      (writer) => void writer.int(OpCode.sasl).buffer(token),
      (rc, record) => {
        if (rc !== 0) return this.#gone(`SASL refused, ${codeName(rc)}`);
        this.listener.onProgress?.();
        next(record.buffer());
      },
    );
  }

  #up(): void {
    this.#isUp = true;
    this.#failure = 'the connection was lost';
    const credentials = this.#credentials!;
    this.#pingEvery(credentials.timeout / 3);
    this.listener.onConnected(credentials);
  }

  /** Keeps the session alive while its owner sends nothing. Whether the server answers is for the owner to watch. */
  #pingEvery(ms: number): void {
    const ping = () => {
      this.#out.write((writer) => writer.int(Xid.PING).int(OpCode.ping));
      this.#pingEvery(ms);
    };
    this.#timer = this.context.clock.setTimer(ping, ms, true);
  }

  #gone(reason: string): void {
    if (this.#isOver) return;
    this.detach();
    this.listener.onDisconnected(reason);
  }

  #closed(): void {
    this.#timer?.cancel();
    this.#gone(this.#failure);
    this.context.onClosed(this);
  }
}
