import { LockError } from '../../../lib/core/errors/index.js';
import { ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import type { LinkListener } from '../../../lib/zookeeper/connection/transport.js';
import type { World, WorldObserver } from '../world.js';
import type { Change } from './change.js';
import type { Outcome } from './counter.js';

/**
 * Observes every change of a number on the server, through the tree itself, and compares it with the results that the callers
 * got. Every observed change was requested, and was made once; a caller that learned that its change was made, or was not, got
 * the truth; a caller that learned neither had lost the connection. So the number is always the exact sum.
 */
export class CounterJudge implements WorldObserver {
  readonly lasting = 1;
  readonly #changes: Change[] = [];
  readonly #watcher: LinkListener;
  /** The values by the transactions that made them. */
  readonly values = new Map<number, bigint>();
  /** When each value was replaced by the next. */
  readonly #replacedAt: { readonly value: bigint; readonly at: number }[] = [];
  #value?: bigint;
  #changedAt = 0;
  #zxid = -1;

  constructor(
    private readonly world: World,
    readonly path: string,
    private readonly bits: 32 | 64,
  ) {
    const ignore = () => {};
    const onWatch = () => this.#changed();
    this.#watcher = { onConnected: ignore, onDisconnected: ignore, onExpired: ignore, onWatch };
    world.server.tree.watchData(path, this.#watcher);
    world.observers.push(this);
  }

  /** Value on the server; 0 if there is none. */
  get value(): bigint {
    return this.#value ?? 0n;
  }

  /** The transaction that made the value. */
  get zxid(): number {
    return this.#zxid;
  }

  get changedAt(): number {
    return this.#changedAt;
  }

  /** The number of the next change. */
  get nextId(): number {
    return this.#changes.length + 1;
  }

  /** Called before the method is called. */
  began(about: Pick<Change, 'what' | 'client' | 'makes' | 'isRepeatable'>): Change {
    const { nextId: id } = this;
    const change: Change = { ...about, id, startedAt: this.#now };
    this.#changes.push(change);
    this.world.history.note(change.what, `${id} by ${change.client.name}`);
    return change;
  }

  /** The call ended with that outcome. */
  ended(change: Change, { succeeded, preValue, postValue }: Outcome): void {
    if (!succeeded) return this.denied(change);
    this.confirmed(change);
    const { before, now } = change.made ?? { before: 0n, now: 0n };
    if (BigInt(preValue) !== before || BigInt(postValue) !== now)
      this.#accuse(change, `made ${now} of ${before}, but says ${postValue} of ${preValue}`);
  }

  /** The call reports that the change was made. */
  confirmed(change: Change): void {
    if (!change.made) this.#accuse(change, 'says that it was made, and was not');
    this.world.history.note('made', `${change.id}`);
  }

  /** The call reports that the change was not made. */
  denied(change: Change): void {
    if (change.made && !change.isRepeatable) this.#accuse(change, 'was made, and says that not');
    change.isDenied = true;
    this.world.history.note('not made', `${change.id}`);
  }

  /** The call was rejected. */
  failed(change: Change, error: unknown): void {
    const { client, startedAt, id } = change;
    const code = codeOf(error);
    if (code === undefined) this.#accuse(change, `fails with ${String(error)}`);
    if (client.closedAt === undefined && client.calmSince < startedAt)
      this.#accuse(change, `fails with ${code} although nothing disturbs it`);
    if (code === 'LOCK_CLIENT_CLOSED' && client.closedAt === undefined)
      this.#accuse(change, 'fails as if the client were closed');
    this.world.history.note(`failed with ${code}`, `${id}`);
    if (code !== 'MAYBE_DONE' && !change.isRepeatable) this.denied(change);
  }

  /** A read that began then has returned that value. */
  read(value: bigint, since: number): void {
    const wasSo = this.#replacedAt.some((past) => past.value === value && past.at >= since);
    if (value !== this.value && !wasSo) this.world.history.accuse(`${value} was read, out of time`);
    this.world.history.note('read');
  }

  check(): void {}

  /** Removes the observer, and its watch. */
  stop(): void {
    this.world.server.tree.forget(this.#watcher);
  }

  get #now(): number {
    return this.world.clock.now();
  }

  #accuse({ what, id }: Change, wrong: string): void {
    this.world.history.accuse(`${what} ${id} ${wrong}`);
  }

  #changed(): void {
    const { history, server } = this.world;
    server.tree.watchData(this.path, this.#watcher);
    const node = server.tree.get(this.path);
    if (!node) return history.accuse('the number was removed');
    const before = this.#value;
    const now = BigInt(this.bits === 32 ? node.data.readInt32BE() : node.data.readBigInt64BE());
    const change = this.#authorOf(before, now);
    if (!change) history.accuse(`no client has made ${now} of ${before}`);
    else if (change.isDenied) this.#accuse(change, 'is made after it said that it was not');
    else if (change.made && !change.isRepeatable) this.#accuse(change, 'is made twice');
    if (change) change.made = { before: before ?? 0n, now };
    history.note('number changed', `to ${now} by ${change?.id}`);
    this.#replacedAt.push({ value: this.value, at: this.#now });
    this.#value = now;
    this.#changedAt = this.#now;
    this.#zxid = node.stat().mzxid;
    this.values.set(this.#zxid, now);
  }

  #authorOf(before: bigint | undefined, now: bigint): Change | undefined {
    const able = this.#changes.filter((change) => change.makes(before, now));
    const expected = able.find(({ made, isDenied }) => !made && !isDenied);
    return expected ?? able.find(({ isRepeatable }) => isRepeatable) ?? able[0];
  }
}

/** `undefined`: an error that must not occur. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof ZooKeeperError && error.maybeDone) return 'MAYBE_DONE';
  if (error instanceof ZooKeeperError && error.isConnectionLoss) return 'CONNECTION_LOSS';
  const codes = ['LOCK_CLIENT_CLOSED', 'LOCK_CONNECTION'];
  return error instanceof LockError && codes.includes(error.code) ? error.code : undefined;
}
