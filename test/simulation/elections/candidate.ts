import type { Leadership } from '../../../lib/core/election/leader-term.js';
import type { ObservedHold } from '../observed-hold.js';
import type { QueuedNode } from '../queued-node.js';
import type { SimulatedClient } from '../simulated-client.js';
import { Times } from '../times.js';

export interface CandidateOptions {
  /** What its nodes say. */
  readonly id: string;
  readonly client: SimulatedClient;
  readonly errorPolicy: 'standard' | 'session';
  /** What it says of itself. */
  readonly hasLeadership: () => boolean;
}

/** One latch or selector, as its users and the server see it. */
export class Candidate {
  /** Since when it stands for election; `Infinity`: it does not. */
  standsSince = Times.never;
  /** When it last began or ended anything. */
  changedAt = 0;
  /** What it leads by, or last led by. */
  hold?: ObservedHold;
  leadership?: Leadership;
  /** Was it told to its listeners that it leads, and not yet that it does no longer? */
  isTold = false;
  /** Something runs that keeps its node where it is, leadership or not. */
  isBusy = false;
  /** Nodes made for it since it last gave one back. */
  readonly nodes: QueuedNode[] = [];

  constructor(readonly options: CandidateOptions) {}

  get isStanding(): boolean {
    return this.standsSince < Times.never;
  }

  /** What it leads by now, as far as it has said. */
  get liveHold(): ObservedHold | undefined {
    return this.hold?.endedAt === undefined ? this.hold : undefined;
  }

  /** Its node in the session of its client. */
  get node(): QueuedNode | undefined {
    const session = this.options.client.connection.session?.id;
    return this.nodes.findLast(({ owner }) => owner === session);
  }

  /** When the last of its nodes went. */
  get vanishedAt(): number {
    return Times.latest(0, ...this.nodes.map(({ goneAt = 0 }) => goneAt));
  }
}
