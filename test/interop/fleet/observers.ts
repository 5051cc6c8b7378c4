import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { History } from './history.js';

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

/** What may come between a worker and the history. */
export interface Interlude {
  /** Before the begin of any worker is recorded. */
  beforeBegin?(): Promise<void>;
  /** A begin was recorded; that worker waits until this is over, the others do not. */
  afterBegin?(worker: string): Promise<void> | undefined;
}

/** Listens to the workers of the fleet, and records their history, one event after the other. */
export class FleetObserver {
  private last = Promise.resolve();
  private interlude: Interlude = {};
  private lines!: LineObserver;

  private constructor(private readonly history: History) {}

  static async start(history: History): Promise<FleetObserver> {
    const observer = new FleetObserver(history);
    observer.lines = await LineObserver.start(async (worker, event, argument) => {
      await observer.inTurn(() => observer.note(event, worker, Number(argument)));
      if (event === 'begin') await observer.interlude.afterBegin?.(worker);
    });
    return observer;
  }

  get port(): number {
    return this.lines.port;
  }

  interpose(interlude: Interlude): void {
    this.interlude = interlude;
  }

  /** Resolves when all workers have left. */
  stop(): Promise<void> {
    return this.lines.stop();
  }

  /** Handles events in the order of arrival, even where an interlude takes a while. */
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
