import type { Session } from '../connection/session.js';
import { parentPath } from '../connection/znode-path.js';
import type { Stat } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockSettings } from '../lock-path.js';
import { retryUntilAnswered } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import { anyVersionError, type ValueCodec } from '../shared/watched-value.js';

/** Format of the integer in a node: signed, big-endian, `bits` wide, as in Curator. A node without data stands for 0. */
export class AtomicKind implements ValueCodec<bigint> {
  constructor(readonly bits: 32 | 64) {}

  has(value: bigint): boolean {
    return BigInt.asIntN(this.bits, value) === value;
  }

  /** @param value within the range, see `has` */
  encode(value: bigint): Buffer {
    const bytes = Buffer.alloc(this.bits / 8);
    if (this.bits === 32) bytes.writeInt32BE(Number(value));
    else bytes.writeBigInt64BE(value);
    return bytes;
  }

  decode(bytes: Buffer): bigint | undefined {
    if (bytes.length === 0) return 0n;
    if (bytes.length !== this.bits / 8) return undefined;
    return this.bits === 32 ? BigInt(bytes.readInt32BE()) : bytes.readBigInt64BE();
  }
}

/** A node as it was read; `undefined` if there was none. */
export type SeenNode = { readonly data: Buffer; readonly stat: Stat } | undefined;

/** Return codes which mean that another client has changed, created or removed the node. */
const OVERTAKEN: readonly number[] = [
  ReturnCode.BADVERSION,
  ReturnCode.NODEEXISTS,
  ReturnCode.NONODE,
];

/** A persistent node; a change of it succeeds only if the node is still as it was read. */
export class AtomicNode {
  constructor(
    private readonly context: RecipeContext,
    private readonly settings: LockSettings,
  ) {}

  /** Reads the node from the server that we are connected to. Rejects as `retryUntilAnswered` does. */
  read(): Promise<SeenNode> {
    const { connection, parents } = this.context;
    const { key, path } = this.settings;
    return retryUntilAnswered(this.context, key, async () => {
      await parents.settle(path);
      try {
        return await connection.getData(path);
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
        return undefined;
      }
    });
  }

  /** Resolves when the next read is not older than this call. Rejects as `retryUntilAnswered` does. */
  catchUp(): Promise<void> {
    const { key, path } = this.settings;
    return retryUntilAnswered(this.context, key, () => this.context.connection.sync(path));
  }

  /**
   * Sets the data to `bytes`, or creates the node, if it is still as seen. Resolves to false when that certainly did not
   * happen: another change came first, or the connection was lost before this one could be made.
   *
   * Rejects with `ZooKeeperError` when the servers reject the request, also because they are busy, and when no answer came and
   * the change may have been made: the error then has `maybeDone` set.
   */
  async replace(seen: SeenNode, bytes: Buffer): Promise<boolean> {
    const { context, settings } = this;
    const { connection, parents, client } = context;
    if (seen?.stat.version === -1) throw anyVersionError(settings, client);
    if (seen === undefined) await this.#makeParents();
    const { session } = connection;
    try {
      if (seen) await connection.setData(settings.path, bytes, seen.stat.version);
      else await parents.create(settings.path, bytes);
      return true;
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error;
      if (error.maybeDone) await this.#makeSure(error, seen, bytes, session);
      else if (!error.isConnectionLoss && !OVERTAKEN.includes(error.rc)) throw error;
      return false;
    }
  }

  /**
   * Resolves when a change without an answer was certainly not made, and never will be; rejects with `lost` otherwise.
   *
   * - An unchanged node is proof in the session in which the change was sent: the servers accept a session's requests from its
   *   newest connection only, and we count as connected only after a `sync` was answered on that one. In another session it is
   *   no proof: requests of the old session may still arrive.
   * - Different bytes in the very next version are proof: another change took the version that this one needed.
   * - The same bytes there do not prove that it was this change: two clients that increment one number write the same.
   */
  async #makeSure(
    lost: ZooKeeperError,
    seen: SeenNode,
    bytes: Buffer,
    session: Session | undefined,
  ): Promise<void> {
    const now = await this.read().catch(() => {
      throw lost; // the change may have been made, which matters more than the error of the read
    });
    const isSameSession = session !== undefined && session === this.context.connection.session;
    const isUntouched = now?.stat.mzxid === seen?.stat.mzxid;
    if (isUntouched && isSameSession) return;
    if (!this.#wasOvertaken(seen, now, bytes)) throw lost;
  }

  #wasOvertaken(seen: SeenNode, now: SeenNode, bytes: Buffer): boolean {
    if (now === undefined || now.data.equals(bytes)) return false;
    if (seen === undefined) return now.stat.version === 0;
    const next = (seen.stat.version + 1) | 0; // the servers count versions in 32 bits
    return now.stat.czxid === seen.stat.czxid && now.stat.version === next;
  }

  async #makeParents(): Promise<void> {
    const { parents } = this.context;
    const { key, path } = this.settings;
    try {
      await retryUntilAnswered(this.context, key, () => parents.make(parentPath(path)));
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error; // else removed meanwhile: the create reports it
    }
  }
}
