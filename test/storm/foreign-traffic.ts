import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** How long a connection on loopback may take, in ms: whoever has not heard its echo by then never will. */
const PATIENCE = 3_000;

/** TCP connections of somebody else in this process, which nothing that happens to ours may harm. */
export class ForeignTraffic {
  opened = 0;
  echoed = 0;
  /** Connections that did not hear their echo in time. */
  hung = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ForeignTraffic> {
    const server = createServer((socket: Socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ForeignTraffic(server);
  }

  /** Opens a connection in this very turn of the event loop. */
  open(): void {
    this.opened += 1;
    const { port } = this.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1', () => socket.write('x'));
    const timer = setTimeout(() => {
      this.hung += 1;
      socket.destroy();
    }, PATIENCE);
    socket.on('error', () => {}); // no echo will come
    socket.once('data', () => {
      this.echoed += 1;
      clearTimeout(timer);
      socket.destroy();
    });
  }

  /** Resolves when every connection has had its echo, or has been given up. */
  async settled(): Promise<void> {
    while (this.echoed + this.hung < this.opened) await new Promise(setImmediate);
  }
}
