import type { SimulatedServer } from '../server/redis-server.js';
import type { Reply } from '../server/reply.js';
import type { Session } from '../server/session.js';

/** A connection, as its server has it. */
export interface Connection {
  readonly session: Session;
  /** Answers the next command. */
  answer(reply: Reply): void;
  /** The server reads and writes nothing more. */
  hangUp(): void;
}

/** The connections of a server. It carries out one command after the other, as they come, unless it stands still. */
export class ServerPort {
  isListening = true;
  readonly #links = new Set<Connection>();
  #stalls = 0;
  /** What came while it stood still. */
  #backlog: (() => void)[] = [];

  constructor(readonly server: SimulatedServer) {}

  accept(link: Connection): void {
    this.#links.add(link);
    this.server.channels.add(link.session);
  }

  receive(link: Connection, words: readonly string[]): void {
    this.#do(() => {
      if (this.#links.has(link)) link.answer(this.server.execute(link.session, words));
    });
  }

  /** The client has closed its end. */
  leave(link: Connection): void {
    this.#do(() => this.#hangUp(link));
  }

  /** It stands still; the returned function ends that. */
  stall(): () => void {
    this.#stalls += 1;
    return () => {
      this.#stalls -= 1;
      if (this.#stalls > 0) return;
      for (const work of this.#backlog.splice(0)) work();
    };
  }

  /** All connections end, and what was not carried out is lost. */
  hangUpAll(): void {
    this.#backlog = [];
    for (const link of this.#links) this.#hangUp(link);
  }

  #hangUp(link: Connection): void {
    if (!this.#links.delete(link)) return;
    this.server.channels.delete(link.session);
    link.hangUp();
  }

  #do(work: () => void): void {
    if (this.#stalls > 0) this.#backlog.push(work);
    else work();
  }
}
