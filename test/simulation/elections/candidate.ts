import type { Leadership } from '../../../lib/core/election/leader-term.js';
import type { ObservedHold } from '../observed-hold.js';
import type { QueuedNode } from '../queued-node.js';
import type { SimulatedClient } from '../simulated-client.js';
import { Times } from '../times.js';

export interface CandidateOptions {
  /** The data of its nodes. */
  readonly id: string;
  readonly client: SimulatedClient;
  readonly errorPolicy: 'standard' | 'session';
  /** What it reports of itself. */
  readonly hasLeadership: () => boolean;
}

/** A latch or selector, as its users and the server see it. */
export class Candidate {
  /** Since when it stands for election; `Infinity` if it does not. */
  standsSince = Times.never;
  /** When it last began or ended anything. */
  changedAt = 0;
  /** The hold that it leads by, or last led by. */
  hold?: ObservedHold;
  leadership?: Leadership;
  /** True from the notification of its listeners that it leads until the one that it does not lead any more. */
  isTold = false;
  /** True while work runs that keeps its node where it is, leadership or not. */
  isBusy = false;
  /** Nodes made for it since it last released one. */
  readonly nodes: QueuedNode[] = [];

  constructor(readonly options: CandidateOptions) {}

  get isStanding(): boolean {
    return this.standsSince < Times.never;
  }

  /** The hold that it leads by now, as far as it has reported. */
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
