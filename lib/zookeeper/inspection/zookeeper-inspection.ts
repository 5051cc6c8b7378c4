import { type QueuedActivity, queuedActivity } from '../../core/internal/client-activity.js';
import type {
  KnownLocks,
  LockInspection,
  PeerReports,
  ObservedLock,
} from '../../core/lock-inspection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { lockPath, type LockPathSettings } from '../lock-path.js';
import { listChildren } from '../nodes/node-requests.js';
import type { RecipeContext } from '../recipe-context.js';
import { NodeFacts, readDirectory } from './read-directory.js';
import { ZooKeeperReports } from './zookeeper-reports.js';

/** Reads from the tree the locks under `basePath`, and the known locks elsewhere. */
export class ZooKeeperInspection implements LockInspection {
  readonly #facts: NodeFacts;

  constructor(
    private readonly context: RecipeContext,
    private readonly chroot: string,
    private readonly paths: LockPathSettings,
  ) {
    this.#facts = new NodeFacts(context.connection);
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

  activity(): QueuedActivity[] {
    return queuedActivity(this.context);
  }

  async locks({
    names,
    held,
    limit,
  }: KnownLocks): Promise<{ locks: ObservedLock[]; omitted: number }> {
    const { connection } = this.context;
    const children = await listChildren(connection, this.#prefix.slice(0, -1) || '/');
    const all = [...new Set([...names, ...children.map((child) => this.#prefix + child)])];
    const reader = { connection, facts: this.#facts, held };
    const read = all.slice(0, limit).map((name) => readDirectory(reader, name));
    const locks = (await Promise.all(read)).filter((lock) => lock !== undefined);
    this.#facts.turn();
    return { locks, omitted: Math.max(0, all.length - limit) };
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

  exchange(): PeerReports {
    const scope = encodeURIComponent(this.paths.basePath);
    return new ZooKeeperReports(this.context, `${this.chroot}/nestjs-interlock/inspector/${scope}`);
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
