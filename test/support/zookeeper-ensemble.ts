import { eventually } from './eventually.js';
import { freePorts } from './free-ports.js';
import type { ZooKeeperServerOptions } from './zookeeper-config.js';
import { ZooKeeperServer } from './zookeeper-server.js';

const HOST = '127.0.0.1';
const SIZE = 3;
const START_ATTEMPTS = 3;

/** Three real ZooKeeper servers that elect a leader. */
export class ZooKeeperEnsemble {
  private constructor(readonly servers: readonly ZooKeeperServer[]) {}

  /** Starts the servers on free ports; resolves when all of them serve. */
  static async start(
    options: Omit<ZooKeeperServerOptions, 'host' | 'id'> = {},
  ): Promise<ZooKeeperEnsemble> {
    for (let attempt = 1; ; attempt++) {
      const ensemble = new ZooKeeperEnsemble(await members(options));
      try {
        await Promise.all(ensemble.servers.map((server) => server.restart()));
        return ensemble;
      } catch (error) {
        await ensemble.stop();
        if (attempt === START_ATTEMPTS) throw error; // else another process may have won a port
      }
    }
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

  /** Ends all servers and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  private async inRole(role: 'leader' | 'follower'): Promise<ZooKeeperServer[]> {
    const roles = await this.roles();
    return this.servers.filter((_, i) => roles[i] === role);
  }

  private roles() {
    return Promise.all(this.servers.map((server) => server.role()));
  }
}

async function members(options: ZooKeeperServerOptions): Promise<ZooKeeperServer[]> {
  const ports = await freePorts(3 * SIZE, HOST);
  const ids = Array.from({ length: SIZE }, (_, i) => i + 1);
  const peers = ids.map((id) => {
    const [quorum, election] = ports.slice(SIZE + 2 * (id - 1));
    return [`server.${id}`, `${HOST}:${quorum}:${election}`];
  });
  const config = { initLimit: 20, syncLimit: 10, ...Object.fromEntries(peers), ...options.config };
  return ids.map(
    (id) => new ZooKeeperServer(ports[id - 1]!, { ...options, host: HOST, id, config }),
  );
}
