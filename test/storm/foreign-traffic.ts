import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';

/** Maximum time for a connection on loopback, in ms: a connection without its echo by then will never get it. */
const PATIENCE = 3_000;

/** TCP connections of other code in this process, which nothing that happens to ours may harm. */
export class ForeignTraffic {
  opened = 0;
  /** Connections that did not receive their echo in time. */
  hung = 0;
  private readonly underWay = new Set<Promise<void>>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ForeignTraffic> {
    const server = createServer((socket) => {
      socket.on('error', () => {}); // the other side has given up
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ForeignTraffic(server);
  }

  /** Opens a connection in this turn of the event loop. */
  open(): void {
    this.opened += 1;
    const task = this.echo().then((isEchoed) => {
      if (!isEchoed) this.hung += 1;
      this.underWay.delete(task);
    });
    this.underWay.add(task);
  }

  /** Resolves when every connection so far has had its echo, or has been given up. */
  async settled(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private echo(): Promise<boolean> {
    const { port } = this.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1', () => socket.write('x'));
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(false), PATIENCE);
      const end = (isEchoed: boolean) => {
        clearTimeout(timer);
        socket.destroy();
        resolve(isEchoed);
      };
      socket.on('error', () => end(false));
      socket.once('data', () => end(true));
    });
  }
}
