import type { SimulatedServer } from '../server/redis-server.js';
import type { Link } from './link.js';

/** The connections of a server. It carries out one command after the other, as they come, unless it stands still. */
export class ServerPort {
  isListening = true;
  readonly #links = new Set<Link>();
  #stalls = 0;
  /** What came while it stood still. */
  #backlog: (() => void)[] = [];

  constructor(readonly server: SimulatedServer) {}

  accept(link: Link): void {
    this.#links.add(link);
    this.server.channels.add(link.session);
  }

  receive(link: Link, words: readonly string[]): void {
    this.#do(() => {
      if (this.#links.has(link)) link.answer(this.server.execute(link.session, words));
    });
  }

  /** The client has closed its end. */
  leave(link: Link): void {
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

  #hangUp(link: Link): void {
    if (!this.#links.delete(link)) return;
    this.server.channels.delete(link.session);
    link.hangUp();
  }

  #do(work: () => void): void {
    if (this.#stalls > 0) this.#backlog.push(work);
    else work();
  }
}
