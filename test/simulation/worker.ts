import type { Clock } from '../../lib/core/clock.js';
import type { ZooKeeperConnection } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { Servers } from '../../lib/zookeeper/connection/server-list.js';
import type { Transport } from '../../lib/zookeeper/connection/transport.js';
import type { SessionProof } from '../../lib/zookeeper/session-worker/messages.js';
import { SessionMirror } from '../../lib/zookeeper/session-worker/session-mirror.js';
import { StandbySession } from '../../lib/zookeeper/session-worker/standby-session.js';
import { FaultyTransport } from '../support/transports.js';
import { type Eavesdropper, ProcessTransport, SimulatedProcess } from './process.js';
import { Timing } from './timing.js';

interface SimulatedWorkerOptions {
  /** That of the world. */
  readonly clock: Clock;
  /** The main thread. */
  readonly process: SimulatedProcess;
  readonly transport: Transport;
  readonly servers: Servers;
  readonly eavesdropper: Eavesdropper;
  readonly maxStall: number;
}

/** The worker thread of a simulated process, with an event loop and a network of its own: it goes on while the main thread is frozen. */
export class SimulatedWorker {
  readonly thread: SimulatedProcess;
  readonly network: FaultyTransport;
  readonly #mirror: SessionMirror;
  readonly #standby: StandbySession;
  readonly #proofs: SessionProof[] = [];

  constructor({ clock, process, ...options }: SimulatedWorkerOptions) {
    const { transport, servers, maxStall, eavesdropper } = options;
    this.thread = new SimulatedProcess(clock);
    this.network = new FaultyTransport(transport, clock);
    this.#mirror = new SessionMirror(process);
    this.#standby = new StandbySession({
      clock: this.thread,
      sign: this.#mirror.sign,
      maxStall,
      transport: new ProcessTransport(this.network, this.thread, eavesdropper),
      servers,
      tickTime: Timing.tick,
      confirm: (proof) => this.#proofs.push(proof),
      failed: () => {},
    });
  }

  async start(connection: ZooKeeperConnection): Promise<void> {
    const port = {
      send: (message: Parameters<StandbySession['receive']>[0]) =>
        this.thread.receive(() => this.#standby.receive(message)),
      next: () => this.#proofs.shift(),
      close: () => {},
    };
    this.#mirror.open(port, connection);
  }

  catchUp(): void {
    this.#mirror.catchUp();
  }

  async close(): Promise<void> {
    this.#mirror.close();
    this.kill();
  }

  /** It ends with its process; its sockets are closed. */
  kill(): void {
    this.thread.kill();
    this.network.cut('processed');
  }
}
