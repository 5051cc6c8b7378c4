import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

const HOST = '127.0.0.1';

/** A TCP proxy on loopback that can become a black hole: connections stay open, and nothing arrives any more. */
export class SeverableLink {
  readonly #sockets = new Set<Socket>();
  readonly #listener: Server;
  #isSevered = false;

  private constructor(private readonly target: number) {
    this.#listener = createServer((socket) => this.#relay(socket));
  }

  /** From that port to another one. */
  static async open(port: number, target: number): Promise<SeverableLink> {
    const link = new SeverableLink(target);
    link.#listener.listen(port, HOST);
    await once(link.#listener, 'listening');
    return link;
  }

  sever(): void {
    this.#isSevered = true;
  }

  /** It carries again what is sent from now on: on new connections, as the old ones have a gap. */
  mend(): void {
    this.#isSevered = false;
    this.#cut();
  }

  close(): void {
    this.#listener.close();
    this.#cut();
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #relay(near: Socket): void {
    const far = connect(this.target, HOST);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (data) => {
        if (!this.#isSevered) to.write(data);
      });
      from.on('error', () => {}); // reported by `close`
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
