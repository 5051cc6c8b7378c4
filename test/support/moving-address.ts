import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * An address of several servers, one after the other, as the DNS name of a primary is: a client that connects reaches the one
 * that it stands for then, and stays there.
 */
export class MovingAddress {
  readonly host = '127.0.0.1';
  /** How many connections were made. */
  connections = 0;
  readonly #sockets = new Set<Socket>();
  readonly #listener = createServer((near) => this.#forward(near));

  private constructor(private target: Address) {}

  static async of(target: Address): Promise<MovingAddress> {
    const address = new MovingAddress(target);
    address.#listener.listen(0, address.host);
    await once(address.#listener, 'listening');
    return address;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Stands for that server from now on. */
  moveTo(target: Address): void {
    this.target = target;
  }

  async stop(): Promise<void> {
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(near: Socket): void {
    this.connections += 1;
    const far = connect(this.target.port, this.target.host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on('error', () => {}); // 'close' follows
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
