import { askServer } from './ask-server.js';
import {
  connectionTo,
  type HostAndPort,
  type NodeRedis,
  type NodeRedisClient,
  type NodeRedisSentinelOptions,
  type NodeRedisServer,
  reachable,
  serverAt,
} from './node-redis.js';

/** Longest wait for the answer of one Sentinel, in ms. */
const PATIENCE = 2_000;

/**
 * The master that Sentinels name, whichever it is when a connection is made. They are asked in the given order, the one that
 * answered last before all others.
 */
export class NodeRedisSentinels implements NodeRedisServer {
  readonly options: object;
  #sentinels: readonly HostAndPort[];

  constructor(
    private readonly package_: NodeRedis,
    private readonly settings: NodeRedisSentinelOptions,
  ) {
    const { name, sentinelRootNodes, nodeClientOptions } = settings;
    this.#sentinels = sentinelRootNodes;
    this.options = { sentinels: sentinelRootNodes, name, db: nodeClientOptions?.database };
  }

  async newClient(signal: AbortSignal): Promise<NodeRedisClient> {
    const { nodeClientOptions, nodeAddressMap } = this.settings;
    const master = reachable(await this.#master(signal), nodeAddressMap);
    return connectionTo(this.package_.createClient({ ...nodeClientOptions }), master);
  }

  async #master(signal: AbortSignal): Promise<HostAndPort> {
    const { name } = this.settings;
    const reasons: unknown[] = [];
    for (const sentinel of this.#sentinels) {
      try {
        const answer = await this.#ask(sentinel, signal);
        this.#sentinels = [sentinel, ...this.#sentinels.filter((each) => each !== sentinel)];
        if (answer !== null) return { host: answer[0]!, port: Number(answer[1]) };
        reasons.push(`${sentinel.host}:${sentinel.port} knows no "${name}"`);
      } catch (error) {
        reasons.push(error);
      }
      signal.throwIfAborted();
    }
    throw new Error(`No Sentinel has named the master "${name}": ${reasons.join('; ')}`);
  }

  /** The address of the master as that Sentinel knows it. */
  async #ask(sentinel: HostAndPort, signal: AbortSignal): Promise<readonly string[] | null> {
    const { name, sentinelClientOptions, nodeAddressMap } = this.settings;
    const template = () => this.package_.createClient({ ...sentinelClientOptions });
    const server = serverAt(reachable(sentinel, nodeAddressMap), template);
    const command = ['sentinel', 'get-master-addr-by-name', name] as const;
    return (await askServer(server, PATIENCE, signal, ...command)) as readonly string[] | null;
  }
}
