import {
  LockConnectionError,
  LockLostError,
  LockNotHeldError,
} from '../../lib/core/errors/index.js';
import type { LinkListener } from '../../lib/zookeeper/connection/transport.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { zooKeeperOperations } from '../../lib/zookeeper/zookeeper-write.js';
import { Observer, watcher } from './observer.js';
import type { ObservedHold, Visit } from './operation.js';
import type { World } from './world.js';

const DIRECTORY = '/written';

interface Write {
  readonly hold: ObservedHold;
  outcome: 'under way' | 'done' | 'refused' | 'unknown';
  isThere: boolean;
}

/**
 * The data that guarded writes append to: each is there once, or not at all, as the outcome for its caller says; and never behind that of a
 * later holder that excludes its own, or to whom that was handed on.
 */
export class WrittenData extends Observer {
  override lasting = 1;
  /** All that was asked for, by its text. */
  readonly #asked = new Map<string, Write>();
  /** All that is there, in the order in which the leader has carried it out. */
  readonly #there: Write[] = [];
  readonly #watcher: LinkListener;

  constructor(world: World) {
    super(world);
    const { tree } = world.server;
    const { PERSISTENT: mode } = CreateMode;
    tree.insert(DIRECTORY, { data: Buffer.alloc(0), mode, zxid: tree.nextZxid(), sessionId: '0' });
    this.#watcher = watcher(() => this.#look());
    this.#look();
  }

  override stop(): void {
    this.world.server.tree.forget(this.#watcher);
  }

  /** Appends to the data by that lease; does not reject. */
  async append({ lease, hold }: Visit): Promise<void> {
    const write: Write = { hold, outcome: 'under way', isThere: false };
    const text = String(this.#asked.size);
    this.#asked.set(text, write);
    const mode = CreateMode.PERSISTENT_SEQUENTIAL;
    const create = { op: 'create', path: `${DIRECTORY}/`, data: text, mode } as const;
    write.outcome = await lease.guard(zooKeeperOperations([create])).then(
      () => 'done' as const,
      (error) => this.#outcomeOf(error),
    );
    this.note(`write ${write.outcome}`, `${text} of hold ${hold.id}`);
    this.#compare(text, write);
  }

  #outcomeOf(error: unknown): 'refused' | 'unknown' {
    if (error instanceof LockLostError || error instanceof LockNotHeldError) return 'refused';
    if (!(error instanceof LockConnectionError)) this.accuse(`a write fails: ${String(error)}`);
    return 'unknown';
  }

  #look(): void {
    const { tree } = this.world.server;
    tree.watchChildren(DIRECTORY, this.#watcher);
    const names = [...tree.get(DIRECTORY)!.children].sort();
    for (const name of names.slice(this.#there.length)) {
      const text = tree.get(`${DIRECTORY}/${name}`)!.data.toString();
      const write = this.#asked.get(text)!;
      if (write.isThere) this.accuse(`write ${text} is carried out twice`);
      write.isThere = true;
      for (const { id, heir } of partsOf(write.hold))
        if (heir) this.accuse(`hold ${id} writes behind hold ${heir.id}`);
      for (const earlier of this.#there)
        if (isBefore(write.hold, earlier.hold))
          this.accuse(`hold ${write.hold.id} writes behind hold ${earlier.hold.id}`);
      this.#there.push(write);
      this.lasting += 1;
      this.#compare(text, write);
    }
  }

  #compare(text: string, { outcome, isThere }: Write): void {
    if (outcome === 'done' && !isThere) this.accuse(`write ${text} is done, and is not there`);
    if (outcome === 'refused' && isThere) this.accuse(`write ${text} is refused, and is there`);
  }
}

/** Whether `hold` was granted before the other one, and may not be held together with it. */
function isBefore(hold: ObservedHold, other: ObservedHold): boolean {
  const [parts, others] = [partsOf(hold), partsOf(other)];
  return parts.some((part) =>
    others.some(({ id, queue, nodes }) => {
      if (id === part.id || queue === undefined || queue !== part.queue) return false;
      const both = [...part.nodes, ...nodes].sort((a, b) => a.token - b.token);
      const last = both.at(-1)!; // which had to wait for all others
      const isOther = nodes.includes(last) && !part.nodes.includes(last);
      return isOther && !queue.rule.mayHoldTogether(both);
    }),
  );
}

const partsOf = (hold: ObservedHold): readonly ObservedHold[] =>
  hold.parts.length === 0 ? [hold] : hold.parts.flatMap((part) => partsOf(part.hold));
