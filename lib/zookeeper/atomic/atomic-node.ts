import type { Session } from '../connection/session.js';
import { parentPath } from '../connection/znode-path.js';
import type { Stat } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockSettings } from '../lock-path.js';
import { retryUntilAnswered } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import { anyVersionError, type ValueCodec } from '../shared/watched-value.js';

/** What kind of whole number a node holds: signed, big-endian, of so many bits, as in Curator. Zero bytes are 0. */
export class AtomicKind implements ValueCodec<bigint> {
  constructor(readonly bits: 32 | 64) {}

  has(value: bigint): boolean {
    return BigInt.asIntN(this.bits, value) === value;
  }

  /** @param value one that it has */
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

/** A node as it was read; `undefined`: there was none. */
export type SeenNode = { readonly data: Buffer; readonly stat: Stat } | undefined;

/** What says that somebody else has changed it, made it or removed it. */
const OVERTAKEN: readonly number[] = [
  ReturnCode.BADVERSION,
  ReturnCode.NODEEXISTS,
  ReturnCode.NONODE,
];

/** A node that stays, and is only changed by who knows what it is. */
export class AtomicNode {
  constructor(
    private readonly context: RecipeContext,
    private readonly settings: LockSettings,
  ) {}

  /** As the server has it that we are connected to. Rejects as `retryUntilAnswered` does. */
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

  /** Resolves when what is read next is not older than this call. Rejects as `retryUntilAnswered` does. */
  catchUp(): Promise<void> {
    const { key, path } = this.settings;
    return retryUntilAnswered(this.context, key, () => this.context.connection.sync(path));
  }

  /**
   * Changes it to `bytes`, or makes it, if it is still what was seen. Resolves to false when it certainly did not: another
   * change came first, or the connection was lost before this one could be made.
   *
   * Rejects with `ZooKeeperError` when the servers refuse; and where no answer came and the change may have been made: it
   * then says `maybeDone`.
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
      else if (!error.isTransient && !OVERTAKEN.includes(error.rc)) throw error;
      return false;
    }
  }

  /**
   * Resolves when a change without an answer was certainly not made, and never will be; rejects with `lost` otherwise.
   *
   * - That the node is what it was is enough in the session in which the change was sent: the servers take a session's
   *   requests from its newest connection only, and we are not connected before a `sync` was answered on that. In another
   *   session it is not: what the old one has sent may still arrive.
   * - Other bytes in the very next version are enough: another change had the place that this one needed.
   * - The same bytes there do not say that it was this change: two who count up from one number write the same.
   */
  async #makeSure(
    lost: ZooKeeperError,
    seen: SeenNode,
    bytes: Buffer,
    session: Session | undefined,
  ): Promise<void> {
    const now = await this.read().catch(() => {
      throw lost; // that it may have been made is what matters
    });
    const isSameSession = session !== undefined && session === this.context.connection.session;
    const isUntouched = now?.stat.mzxid === seen?.stat.mzxid;
    if (isUntouched && isSameSession) return;
    if (!this.#wasOvertaken(seen, now, bytes)) throw lost;
  }

  #wasOvertaken(seen: SeenNode, now: SeenNode, bytes: Buffer): boolean {
    if (now === undefined || now.data.equals(bytes)) return false;
    if (seen === undefined) return now.stat.version === 0;
    const next = (seen.stat.version + 1) | 0; // the servers count in 32 bits
    return now.stat.czxid === seen.stat.czxid && now.stat.version === next;
  }

  async #makeParents(): Promise<void> {
    const { parents } = this.context;
    const { key, path } = this.settings;
    try {
      await retryUntilAnswered(this.context, key, () => parents.make(parentPath(path)));
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error; // removed meanwhile: the create will tell
    }
  }
}
