import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** Records a line of a worker. That worker waits until it resolves, the others do not. */
export type Note = (worker: string, event: string, argument: string) => Promise<void>;

/** Listens to the workers of a fleet, each of which sends its name first, then one event per line. */
export class LineObserver {
  private constructor(
    private readonly server: Server,
    private readonly note: Note,
  ) {
    server.on('connection', (socket) => {
      this.listen(socket).catch(() => {}); // a worker that died: the process that started it reports that
    });
  }

  static async start(note: Note): Promise<LineObserver> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1').unref();
    await once(server, 'listening');
    return new LineObserver(server, note);
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' ? address!.port : NaN;
  }

  /** Resolves when all workers have left. */
  async stop(): Promise<void> {
    this.server.close();
    await once(this.server, 'close');
  }

  private async listen(socket: Socket): Promise<void> {
    socket.on('error', () => {});
    let worker = '';
    for await (const line of createInterface({ input: socket })) {
      const [event, argument = ''] = line.split(' ');
      if (event === 'name') worker = argument;
      else await this.note(worker, event!, argument);
      socket.write('noted\n');
    }
    socket.end();
  }
}
