import type { QueuedNode } from './lock-queue.js';
import { Observer } from './observer.js';
import type { ObservedHold, Operation } from './operation.js';

/**
 * A read lock that its callers share: those of one client that come while one of them has it, have it on the same node, within its
 * bounds. It has to be held then, and no caller may have seen its token before.
 */
export class SharedReadRule extends Observer {
  /** The callers that have had what a node holds, in the order in which they got it. */
  readonly #sharers = new Map<QueuedNode, ObservedHold[]>();

  /** Those that have the node of that path already, if the operation may share it. */
  before({ options }: Operation, path: string | undefined): readonly ObservedHold[] {
    const { client, lock, prospect } = options;
    if (lock.sharing === undefined || prospect.kind !== 'queue') return [];
    for (const [node, sharers] of this.#sharers)
      if (node.path === path && sharers[0]!.client === client) return sharers;
    return [];
  }

  granted({ options }: Operation, hold: ObservedHold): void {
    const { lock, prospect } = options;
    if (lock.sharing === undefined || prospect.kind !== 'queue') return;
    const [node] = hold.nodes;
    const sharers = this.#sharers.get(node!) ?? [];
    if (sharers.length > 0) this.#joined(hold, sharers, lock.sharing);
    hold.sharers = sharers;
    this.#sharers.set(node!, sharers);
    sharers.push(hold);
  }

  /** What is reported at the same time may have happened later. */
  #joined(
    hold: ObservedHold,
    sharers: readonly ObservedHold[],
    { atMost, for: ms }: { readonly atMost: number; readonly for: number },
  ): void {
    const { id, grantedAt, servedAt } = hold;
    const wasBefore = (at: number | undefined) => at !== undefined && at < this.now;
    this.note('shared', `by hold ${id} with ${sharers.map((each) => each.id).join()}`);
    if (sharers.length > atMost || grantedAt - servedAt >= ms)
      this.accuse(`hold ${id} shares out of bounds`);
    if (sharers.every(({ endedAt }) => wasBefore(endedAt)))
      this.accuse(`hold ${id} shares what no caller has`);
    if (sharers.some(({ lostAt }) => wasBefore(lostAt)))
      this.accuse(`hold ${id} shares what is lost`);
    if (sharers.some(({ fencedAt }) => wasBefore(fencedAt)))
      this.accuse(`hold ${id} shares the token that another caller has seen`);
  }
}
