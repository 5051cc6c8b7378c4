import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { History } from './history.js';

/** What may come between a worker and the history. */
export interface Interlude {
  /** Before the begin of anybody is written down. */
  beforeBegin?(): Promise<void>;
  /** A begin was written down; the worker waits until this is over, the others do not. */
  afterBegin?(worker: string): Promise<void> | undefined;
}

/** Listens to the workers of the fleet, and writes their history down, one event after the other. */
export class FleetObserver {
  private last = Promise.resolve();
  private interlude: Interlude = {};

  private constructor(
    private readonly server: Server,
    private readonly history: History,
  ) {
    server.on('connection', (socket) => {
      this.listen(socket).catch(() => {}); // a worker that died: whoever started it says so
    });
  }

  static async start(history: History): Promise<FleetObserver> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1').unref();
    await once(server, 'listening');
    return new FleetObserver(server, history);
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' ? address!.port : NaN;
  }

  interpose(interlude: Interlude): void {
    this.interlude = interlude;
  }

  /** Resolves when all workers have gone. */
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
      else await this.inTurn(() => this.note(event!, worker, Number(argument)));
      if (event === 'begin') await this.interlude.afterBegin?.(worker);
      socket.write('noted\n');
    }
    socket.end();
  }

  /** In the order of arrival, also where an interlude takes a while. */
  private inTurn(note: () => Promise<void>): Promise<void> {
    return (this.last = this.last.then(note));
  }

  private async note(event: string, worker: string, sequence: number): Promise<void> {
    if (event === 'end') return this.history.end(worker);
    if (event === 'lost') return this.history.lost(worker);
    await this.interlude.beforeBegin?.();
    this.history.begin(worker, sequence);
  }
}
