import type { Socket } from 'node:net';
import { freePorts, startedOnFreePorts } from './processes.js';
import { Forwarder } from './proxies.js';
import { eventually } from './time.js';
import { ZooKeeperServer, type ZooKeeperServerOptions } from './zookeeper-server.js';

const HOST = '127.0.0.1';
const SIZE = 3;
const START_ATTEMPTS = 3;

/** A way to a server that can become a black hole: connections stay open, and nothing arrives any more. */
class SeverableLink extends Forwarder {
  #isSevered = false;

  sever(): void {
    this.#isSevered = true;
  }

  /** It carries again what is sent from now on: on new connections, as the old ones have a gap. */
  mend(): void {
    this.#isSevered = false;
    this.cut();
  }

  protected override pass(bytes: Buffer, to: Socket): void {
    if (!this.#isSevered) to.write(bytes);
  }
}

export interface ZooKeeperEnsembleOptions extends Omit<ZooKeeperServerOptions, 'host' | 'id'> {
  /** Can servers be cut off from the leader? Default: false. */
  readonly isSeverable?: boolean;
}

/** Three real ZooKeeper servers that elect a leader. */
export class ZooKeeperEnsemble {
  private constructor(
    readonly servers: readonly ZooKeeperServer[],
    /** From each server to each other, where they can be severed. */
    private readonly links: ReadonlyMap<ZooKeeperServer, readonly SeverableLink[]>,
  ) {}

  /** Starts the servers on free ports; resolves when all of them serve. */
  static start(options: ZooKeeperEnsembleOptions = {}): Promise<ZooKeeperEnsemble> {
    return startedOnFreePorts(
      () => ZooKeeperEnsemble.make(options),
      ({ servers }) => Promise.all(servers.map((server) => server.restart())),
      START_ATTEMPTS,
    );
  }

  /** Servers that do not run yet, with the links between them. */
  private static async make({
    isSeverable = false,
    ...options
  }: ZooKeeperEnsembleOptions): Promise<ZooKeeperEnsemble> {
    const ids = Array.from({ length: SIZE }, (_, i) => i + 1);
    const ports = await freePorts(3 * SIZE + SIZE * SIZE, HOST);
    const take = () => ports.splice(0, SIZE);
    const [clients, quorums, elections] = [take(), take(), take()];
    const links = new Map<ZooKeeperServer, readonly SeverableLink[]>();
    for (const [i, id] of ids.entries()) {
      const own: SeverableLink[] = [];
      const peers: [string, string][] = [];
      for (const [j, peer] of ids.entries()) {
        const quorum = quorums[j]!;
        const port = isSeverable && i !== j ? ports.shift()! : quorum;
        if (port !== quorum)
          own.push(await new SeverableLink({ host: HOST, port: quorum }).listen(port));
        peers.push([`server.${peer}`, `${HOST}:${port}:${elections[j]}`]);
      }
      const config = {
        initLimit: 20,
        syncLimit: 10,
        ...Object.fromEntries(peers),
        ...options.config,
      };
      links.set(new ZooKeeperServer(clients[i]!, { ...options, host: HOST, id, config }), own);
    }
    return new ZooKeeperEnsemble([...links.keys()], links);
  }

  /** `host:port,host:port,host:port` */
  get connectString(): string {
    return this.servers.map((server) => server.connectString).join(',');
  }

  /** The server that leads, awaited when an election is under way. */
  async leader(): Promise<ZooKeeperServer> {
    // A leader that was frozen believes for up to a tick of its own that it leads still.
    const only = async () => {
      const [leader, second] = await this.inRole('leader');
      return second === undefined && leader;
    };
    return eventually('the ensemble has one leader', only, { within: 30_000 });
  }

  /** Whether all servers serve, in one quorum. */
  async isWhole(): Promise<boolean> {
    return (await this.roles()).sort().join() === 'follower,follower,leader';
  }

  /** The servers that follow now. */
  followers(): Promise<ZooKeeperServer[]> {
    return this.inRole('follower');
  }

  /**
   * The server that the client of a session is connected to now, if any.
   *
   * @param sessionId in hexadecimal, with or without `0x`
   */
  async serverOf(sessionId: string): Promise<ZooKeeperServer | undefined> {
    const session = BigInt(`0x${sessionId.replace(/^0x/, '')}`).toString(16);
    const connections = await Promise.all(
      this.servers.map((server) => server.fourLetterWord('cons')),
    );
    return this.servers.find((_, i) => connections[i]!.includes(`sid=0x${session},`));
  }

  /** From now on that server cannot reach the leader, nor any that becomes it; elections it hears of. For a `severable` one. */
  cutOff(server: ZooKeeperServer): void {
    for (const link of this.links.get(server)!) link.sever();
  }

  /** Ends `cutOff`. */
  mend(): void {
    for (const link of [...this.links.values()].flat()) link.mend();
  }

  /** Ends all servers and removes their data. */
  async stop(): Promise<void> {
    const all = [...[...this.links.values()].flat(), ...this.servers];
    await Promise.all(all.map((each) => each.stop()));
  }

  private async inRole(role: 'leader' | 'follower'): Promise<ZooKeeperServer[]> {
    const roles = await this.roles();
    return this.servers.filter((_, i) => roles[i] === role);
  }

  private roles() {
    return Promise.all(this.servers.map((server) => server.role()));
  }
}
