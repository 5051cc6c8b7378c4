import type { Clock } from '../../../core/clock.js';
import type { Reply } from '../server/reply.js';
import { Session } from '../server/session.js';
import type { Connection, ServerPort } from './server-port.js';
import type { Way } from './wire.js';

/** The client's end of a connection. Nothing is called after `onClose`. */
export interface LinkListener {
  onConnect(): void;
  onReply(reply: Reply): void;
  /** A message of a subscription, or the end of one: its kind, its channel and its text, as bytes. */
  onMessage(kind: string, channel: string, text: string): void;
  onClose(reason?: string): void;
}

/** What becomes of the commands that are under way when a connection breaks; `late`: they arrive after that many ms. */
export type Fate = 'lost' | 'processed' | { readonly late: number };

interface LinkOptions {
  readonly clock: Clock;
  readonly way: () => Way;
  /** The server that the address leads to by the time that it is asked. */
  readonly port: () => ServerPort;
  readonly listener: LinkListener;
  readonly onSent: (words: readonly string[]) => void;
}

/**
 * A TCP connection. As with TCP, what a client has written still arrives after it has given the connection up, and the server
 * carries it out.
 */
export class Link implements Connection {
  /** What the server knows of it. */
  readonly session: Session;
  readonly up: Way;
  readonly down: Way;
  #server?: ServerPort | undefined;
  #isOpen = true;

  constructor(private readonly options: LinkOptions) {
    const { way, listener } = options;
    this.up = way();
    this.down = way();
    this.session = new Session(([kind, channel, text = '']) =>
      this.#tell(() => listener.onMessage(kind!, channel!, text)),
    );
    this.up.send(() => this.#knock(), ['connect']);
  }

  /** Whether the client has not given it up. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(words: readonly string[]): void {
    this.up.send(() => this.#server?.receive(this, words), words);
    this.options.onSent(words);
  }

  /** The client writes nothing more; `onClose` follows when the server has noticed. */
  end(): void {
    this.up.send(() => this.#server?.leave(this), ['leave']);
  }

  /** The client writes and reads nothing more. */
  destroy(reason?: string): void {
    if (!this.#isOpen) return;
    this.end();
    this.#close(reason);
  }

  /** The connection breaks, and the client notices it at once. */
  break(fate: Fate): void {
    if (!this.#isOpen) return;
    if (fate === 'lost') this.up.drop();
    if (typeof fate === 'object') this.options.clock.setTimer(this.up.block(), fate.late);
    this.destroy('read ECONNRESET');
  }

  /** Nothing arrives on either side; the returned function ends that. */
  block(): () => void {
    const releases = [this.up.block(), this.down.block()];
    return () => {
      for (const release of releases) release();
    };
  }

  answer(reply: Reply): void {
    this.#tell(() => this.options.listener.onReply(reply));
  }

  hangUp(): void {
    this.#server = undefined;
    this.#tell(() => this.#close());
  }

  #knock(): void {
    const port = this.options.port();
    if (!port.isListening) return this.#tell(() => this.#close('connect ECONNREFUSED'));
    this.#server = port;
    port.accept(this);
    this.#tell(() => this.options.listener.onConnect());
  }

  #tell(news: () => void): void {
    this.down.send(() => {
      if (this.#isOpen) news();
    });
  }

  #close(reason?: string): void {
    this.#isOpen = false;
    this.options.listener.onClose(reason);
  }
}
