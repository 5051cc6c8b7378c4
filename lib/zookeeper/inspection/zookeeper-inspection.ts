import {
  type ClientHealth,
  clientHealth,
  type UrgentActivity,
  urgentActivity,
} from '../../core/internal/client-activity.js';
import {
  type KnownLocks,
  type LockInspection,
  type LockPlace,
  type ObservedLocks,
  readEach,
} from '../../core/lock-inspection.js';
import type { ExchangeLimits, ExchangeTopic, PeerReports } from '../../core/peer-reports.js';
import { isCanonicalPath } from '../connection/znode-path.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { lockPath, type LockPathSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { DirectoryScan } from './directory-scan.js';
import { NodeFacts, readDirectory } from './read-directory.js';
import { ZooKeeperReports } from './zookeeper-reports.js';

/** Where a client keeps its locks, and whether other processes can use them. */
interface InspectionSettings extends LockPathSettings {
  readonly isLocal?: boolean;
}

/** Reads from the tree the locks under `basePath`, and with `literalPaths` the known locks elsewhere. */
export class ZooKeeperInspection implements LockInspection {
  readonly #facts: NodeFacts;
  readonly #scan: DirectoryScan;
  #found = new Set<string>();

  constructor(
    private readonly context: RecipeContext,
    private readonly chroot: string,
    private readonly paths: InspectionSettings,
  ) {
    this.#facts = new NodeFacts(context.connection);
    this.#scan = new DirectoryScan(context.connection, this.#prefix.slice(0, -1) || '/');
  }

  get place(): LockPlace {
    const { isLocal = false, basePath } = this.paths;
    const { isConnected, server } = this.context.connection;
    return {
      backend: isLocal ? 'embedded' : 'zookeeper',
      servers: isConnected && !isLocal && server !== undefined ? [server] : [],
      prefix: this.chroot + basePath,
    };
  }

  nameOf(key: string): string {
    return this.chroot + lockPath(this.paths, key, this.context.client);
  }

  keyOf(name: string): string {
    if (!name.startsWith(this.#prefix)) return name.slice(this.chroot.length);
    const component = name.slice(this.#prefix.length);
    try {
      return decodeURIComponent(component);
    } catch {
      return component; // not created by this library
    }
  }

  health(): ClientHealth {
    return clientHealth(this.context.connection.state, this.context.accepts);
  }

  activity(most: number): UrgentActivity {
    return urgentActivity(this.context, most);
  }

  async locks({ names, held, limit, scan }: KnownLocks): Promise<ObservedLocks> {
    const { connection } = this.context;
    const known = new Set([...names].filter((name) => this.#isReadable(name)));
    for (const name of this.#found) known.add(name);
    // Where the known ones take all the room, what a scan finds could not be read.
    const { names: children, unlisted } = await this.#scan.next(limit - known.size, scan);
    const all = [...new Set([...known, ...children.map((child) => this.#prefix + child)])];
    const reader = { connection, facts: this.#facts, held };
    const read = (name: string) => readDirectory(reader, name);
    const { locks, refusals } = await readEach(all.slice(0, limit), read, isRefusal);
    this.#found = new Set(locks.map(({ name }) => name));
    this.#facts.turn();
    return { locks, refusals, omitted: Math.max(0, all.length - limit) + unlisted };
  }

  /** Deletes the nodes of the lock with these ids: a holder learns of it by its watch. */
  async release(name: string, ids: readonly string[]): Promise<boolean> {
    const own = ids.filter((id) => id.startsWith(`${name}/`));
    const removed = await Promise.all(own.map((path) => this.#remove(path)));
    for (const hold of this.context.holds)
      if (hold.backend.holders.some((id) => own.includes(id)))
        hold.markLost('an operator has released it by force');
    return removed.some(Boolean);
  }

  exchange(limits: ExchangeLimits, topic: ExchangeTopic = 'inspector'): PeerReports | undefined {
    if (this.paths.isLocal) return undefined;
    const scope = encodeURIComponent(this.paths.basePath);
    const directory = `${this.chroot}/nestjs-interlock/${topic}/${scope}`;
    return new ZooKeeperReports(this.context, directory, limits);
  }

  /** Names come from other processes: without `literalPaths` this client has no business outside of its directory. */
  #isReadable(name: string): boolean {
    if (!isCanonicalPath(name) || !name.startsWith(`${this.chroot}/`)) return false;
    if (this.paths.literalPaths) return true;
    return name.startsWith(this.#prefix) && !name.slice(this.#prefix.length).includes('/');
  }

  get #prefix(): string {
    return `${this.chroot}${this.paths.basePath}/`;
  }

  async #remove(path: string): Promise<boolean> {
    try {
      await this.context.connection.delete(path);
      return true;
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return false;
      throw error;
    }
  }
}

/** Whether the servers have answered, and refused that node. */
function isRefusal(error: unknown): error is ZooKeeperError {
  return error instanceof ZooKeeperError && !error.isTransient;
}
