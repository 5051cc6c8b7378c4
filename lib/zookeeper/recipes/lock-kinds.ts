import { LockKeyError, LockOptionsError } from '../../core/errors/index.js';

/** Paths remembered; the oldest is forgotten first. */
const CAPACITY = 10_000;

/**
 * What this client uses each path for. Locks of different kinds do not exclude each other on one path, so the second kind
 * is refused, as far as it is remembered; other processes are not looked at.
 */
export class LockKinds {
  readonly #kinds = new Map<string, string>();
  readonly #permits = new Map<string, unknown>();

  constructor(private readonly client: string) {}

  /**
   * @param kind as it stands in messages
   * @throws LockKeyError when `path` is used for another kind
   */
  claim(path: string, kind: string, key: string): void {
    const other = this.#kinds.get(path);
    if (other === kind) return;
    if (other !== undefined)
      throw new LockKeyError(
        key,
        `this client uses ${path} for a ${other}, and a ${kind} there would keep none of its holders out; give each lock a key of its own`,
        { client: this.client },
      );
    remember(this.#kinds, path, kind);
  }

  /**
   * As `claim`, of the directories of a semaphore.
   *
   * @throws LockOptionsError when another object of that semaphore has other permits
   */
  claimSemaphore(path: string, kind: string, key: string, permits: unknown): void {
    this.claim(path, kind, key);
    this.claim(`${path}/locks`, `gate of a ${kind}`, key);
    this.claim(`${path}/leases`, `directory of leases of a ${kind}`, key);
    const others = this.#permits.get(path) ?? permits;
    if (others !== permits)
      throw new LockOptionsError(
        'permits',
        permits,
        'what this client gives that semaphore elsewhere, or one SharedCount to both, which can be changed',
        { key, client: this.client },
      );
    remember(this.#permits, path, permits);
  }
}

function remember<T>(map: Map<string, T>, path: string, value: T): void {
  map.set(path, value);
  const [eldest] = map.keys();
  if (map.size > CAPACITY) map.delete(eldest!);
}
