import type { Clock } from '../../../../lib/core/clock.js';
import type { LuaMachine } from '../../../../lib/testing/redis/lua/lua-machine.js';
import { copyOf, type Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import { SimulatedServer } from '../../../../lib/testing/redis/server/redis-server.js';
import { ServerPort } from '../../../../lib/testing/redis/network/server-port.js';
import type { Servers } from './servers.js';

/** What the primary sends to its replica. */
type Update = (replica: SimulatedServer) => void;

interface ReplicatedServerOptions {
  readonly clock: Clock;
  readonly machine: Pick<LuaMachine, 'run'>;
  /** How many milliseconds pass on the servers while one passes in the world. */
  readonly rate: number;
  /** How far the replica is behind, in ms. */
  readonly lag: number;
}

const START = 1_700_000_000_000;

/** A primary with a replica that lags, behind one address. */
export class ReplicatedServer implements Servers {
  port: ServerPort;
  onCommand: () => void = () => {};
  onChange: (keys: ReadonlySet<string>) => void = () => {};
  #replica: ServerPort;
  /** What the replica does not have yet. */
  #tail: Update[] = [];

  constructor(private readonly options: ReplicatedServerOptions) {
    const { clock, machine } = options;
    const now = () => Math.floor(this.timeAt(clock.now()));
    const make = (runId: string) => new SimulatedServer(machine, now, runId.repeat(40));
    this.port = new ServerPort(make('a'));
    this.#replica = new ServerPort(make('b'));
    this.#replicate();
  }

  /** What the primary has. */
  get keyspace(): Keyspace {
    return this.port.server.keyspace;
  }

  get ports(): readonly ServerPort[] {
    return [this.port, this.#replica];
  }

  portAt(): ServerPort {
    return this.port;
  }

  timeAt(time: number): number {
    return START + time * this.options.rate;
  }

  /**
   * The replica takes over, with what it has. The old primary becomes its replica, and gets its data.
   *
   * @param isAbrupt whether the old one ends its connections; otherwise it refuses to write, on the same ones
   */
  failOver(isAbrupt: boolean): void {
    this.#tail = [];
    const [old, next] = [this.port, this.#replica];
    [this.port, this.#replica] = [next, old];
    next.server.trouble = 'none';
    if (isAbrupt) old.hangUpAll();
    old.server.keyspace.copyFrom(next.server.keyspace);
    this.#replicate();
  }

  #replicate(): void {
    const primary = this.port.server;
    const replica = this.#replica.server;
    primary.role = 'primary';
    replica.role = 'replica';
    Object.assign(replica, { onCommand: () => {}, onChange: () => {}, onPublish: () => {} });
    primary.onCommand = () => this.onCommand();
    primary.onChange = (_, keys) => {
      this.onChange(keys);
      const { keyspace } = primary;
      for (const key of keys) {
        const entry = keyspace.entry(key);
        const copy = entry && copyOf(entry);
        this.#send((it) => it.keyspace.apply(key, copy));
      }
    };
    primary.onPublish = (...message) => this.#send((it) => it.channels.publish(...message));
  }

  #send(update: Update): void {
    const tail = this.#tail;
    tail.push(update);
    const { clock, lag } = this.options;
    const arrive = () => {
      if (tail === this.#tail) tail.shift()!(this.#replica.server); // else it was dropped
    };
    if (lag === 0) arrive();
    else clock.setTimer(arrive, lag);
  }
}
