import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** Connection to the process that observes the fleet, which has recorded a line when the promise resolves. */
export class ObserverConnection {
  private readonly answers: AsyncIterator<string>;

  private constructor(private readonly socket: Socket) {
    this.answers = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  /** @param name of the worker that reports */
  static async open(port: number, name: string): Promise<ObserverConnection> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    const connection = new ObserverConnection(socket);
    await connection.tell(`name ${name}`);
    return connection;
  }

  async tell(event: string): Promise<void> {
    this.socket.write(`${event}\n`);
    if ((await this.answers.next()).done) throw new Error('The observer has gone');
  }

  close(): void {
    this.socket.end();
  }
}
