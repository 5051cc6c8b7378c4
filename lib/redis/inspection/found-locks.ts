import type { ObservedLock, ObservedParty } from '../../core/lock-inspection.js';
import { isRedisCluster, type RedisClient, type RedisNode } from '../connection/ioredis.js';
import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { readHolders } from '../locks/lock-holders.js';
import { permitHolders } from '../scripts/index.js';

/** Keys examined by one command. */
const STEP = 100;

/**
 * Iterates over the keys of all masters in rounds, a bounded part at a time, with `SCAN`, which does not block other clients.
 * A key that stays is found within one round.
 */
class KeyScan {
  #master = 0;
  #cursor = '0';

  /** @param match pattern as for `SCAN`; the prefix in it is escaped */
  constructor(
    private readonly client: RedisClient,
    private readonly match: string,
    private readonly type: 'hash' | 'zset',
  ) {}

  /** The matching keys among the next `most`, or of a whole round if there are fewer. */
  async next(most: number): Promise<string[]> {
    const found: string[] = [];
    let rounds = 0;
    for (let looked = 0; looked < most && rounds < this.#masters.length; looked += STEP) {
      const [cursor, keys] = await this.#scan(Math.min(STEP, most - looked));
      found.push(...keys);
      this.#cursor = cursor;
      if (cursor !== '0') continue;
      this.#master += 1;
      rounds += 1;
    }
    return found;
  }

  get #masters(): readonly RedisNode[] {
    return isRedisCluster(this.client) ? this.client.nodes('master') : [this.client];
  }

  async #scan(count: number): Promise<[string, string[]]> {
    const masters = this.#masters;
    const master = masters[this.#master % masters.length];
    if (master === undefined) return ['0', []];
    const { match, type } = this;
    const options = ['match', match, 'count', count, 'type', type];
    return (await master.call('scan', this.#cursor, ...options)) as [string, string[]];
  }
}

/** Escapes the text for a `SCAN` pattern. */
function literally(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

/** Maximum number of queue entries, and of permits, that are read. */
const MOST = 200;

/** Holder ids in the format of this library and Redisson. */
const HOLDER = /^[\da-f-]{36}:\d+(:write)?$/;

/** A hash with more fields than this is not read: the name may come from another process, and be that of anything. */
const MOST_HOLDERS = 5_000;

/** The lock of that name; `undefined` if it has no holder and no queue on the server, or if the key is not a lock. */
export async function readLockKey(
  connection: RedisConnection,
  name: LockName,
): Promise<ObservedLock | undefined> {
  const type = await connection.read('type', name.redisKey);
  if (type !== 'hash' && type !== 'string' && type !== 'none') return undefined;
  if (type === 'hash' && Number(await connection.read('hlen', name.redisKey)) > MOST_HOLDERS)
    return undefined;
  const isSemaphore = type === 'string';
  const [holders, waiters] = await Promise.all([
    isSemaphore ? permitsOf(connection, name) : partiesOf(connection, name),
    connection.read('lrange', isSemaphore ? name.permitQueue : name.queue, 0, MOST - 1),
  ]);
  if (type === 'hash' && !holders.every(({ ids }) => HOLDER.test(ids[0]!))) return undefined;
  const queue = (waiters as string[]).map((id): ObservedParty => ({ ids: [id], state: 'waiting' }));
  const parties = [...holders, ...queue];
  if (parties.length === 0) return undefined;
  const isReadWrite = holders.some(({ mode }) => mode !== undefined);
  const kind = isSemaphore ? 'semaphore' : isReadWrite ? 'read/write lock' : 'mutex';
  return { name: name.redisKey, kind, parties };
}

async function partiesOf(connection: RedisConnection, name: LockName): Promise<ObservedParty[]> {
  const holders = await readHolders(connection, name);
  return holders.map(({ id, mode, host, pid, method, since }) => ({
    ids: [id],
    state: 'held',
    mode: mode === 'alone' ? undefined : mode,
    host: textOf(host),
    pid: Number.isSafeInteger(pid) ? pid : undefined,
    method: textOf(method),
    since: Number.isFinite(since?.getTime()) ? since!.getTime() : undefined,
  }));
}

/** Maximum number of characters shown of what a holder reports about itself. */
const SHOWN = 200;

/** What stands there was written by the holder, and may be anything. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, SHOWN) : undefined;
}

/** The ids of all permits of one holder of this library begin with the same 12 bytes. */
async function permitsOf(connection: RedisConnection, name: LockName): Promise<ObservedParty[]> {
  const answer = await connection.run(permitHolders, [name.permitTimeouts], [MOST]);
  const ids = (answer as number[][]).map((words) =>
    words.map((word) => word.toString(16).padStart(8, '0')).join(''),
  );
  return ids.map((id) => ({ ids: [id], state: 'held' }));
}

/** The scan does not take a hash with more fields than this for a lock. */
const MOST_FIELDS = 500;

/** Names of locks on the servers that no process reported: keys that look like locks of this library or Redisson. */
export class FoundLocks {
  readonly #hashes: KeyScan;
  readonly #permits: KeyScan;

  constructor(
    private readonly connection: RedisConnection,
    private readonly prefix: string,
  ) {
    const { client } = connection.settings;
    this.#hashes = new KeyScan(client, `${literally(prefix)}*`, 'hash');
    this.#permits = new KeyScan(client, `*${literally(prefix)}*:timeout`, 'zset');
  }

  /** @param most maximum number of keys to examine, of each kind */
  async next(most: number): Promise<string[]> {
    if (most <= 0) return [];
    const [hashes, timeouts] = await Promise.all([
      this.#hashes.next(most),
      this.#permits.next(most),
    ]);
    const locks = await Promise.all(hashes.map((key) => this.#isLock(key)));
    const semaphores = timeouts
      .map((key) => key.slice(0, -':timeout'.length))
      .map((tagged) => /^\{([^{}]*)\}$/.exec(tagged)?.[1] ?? tagged);
    return [...hashes.filter((_, i) => locks[i]), ...semaphores].filter((name) =>
      name.startsWith(this.prefix),
    );
  }

  async #isLock(key: string): Promise<boolean> {
    const { connection } = this;
    if (Number(await connection.read('hlen', key)) > MOST_FIELDS) return false;
    const fields = (await connection.read('hkeys', key)) as string[];
    const holders = fields.filter((field) => field !== 'mode' && field !== 'nestjs-interlock');
    return holders.length > 0 && holders.every((field) => HOLDER.test(field));
  }
}
