import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A long way to a server: what is sent arrives, in either direction, that much later. */
export class Relay {
  readonly host = '127.0.0.1';
  private readonly sockets = new Set<Socket>();
  private readonly listener = createServer((near) => {
    const far = connect(this.target.port, this.target.host);
    this.forward(near, far);
    this.forward(far, near);
  });

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    /** Each way, in milliseconds; what is sent from now on takes so long. */
    public delay: number,
  ) {}

  /** @param delay each way, in milliseconds */
  static async start(
    target: { readonly host: string; readonly port: number },
    delay: number,
  ): Promise<Relay> {
    const relay = new Relay(target, delay);
    relay.listener.listen(0, relay.host);
    await once(relay.listener, 'listening');
    return relay;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = once(this.listener, 'close');
    this.listener.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private forward(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), this.delay));
    from.on('error', () => {}); // the other end learns of it by its closing
    from.on('close', () => {
      this.sockets.delete(from);
      setTimeout(() => to.end(), this.delay);
    });
  }
}
