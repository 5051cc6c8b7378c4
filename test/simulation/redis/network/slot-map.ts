import { slotOf } from '../../../../lib/redis/connection/cluster-slots.js';
import type { Concern } from '../../../../lib/testing/redis/server/keys-of.js';
import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import { fail } from '../../../../lib/testing/redis/server/reply.js';

const SLOTS = 16_384;

/** A slot on its way to another node, key by key. */
interface Migration {
  readonly slot: number;
  readonly to: string;
}

/** What all nodes of a cluster know: where each slot is. Nodes are named by their addresses. */
export class SlotMap {
  /** The slot that is being moved. */
  migration?: Migration | undefined;
  readonly #moved = new Map<number, string>();

  /** @param nodes each begins with as many slots as the others */
  constructor(readonly nodes: readonly string[]) {}

  ownerOf(slot: number): string {
    return this.#moved.get(slot) ?? this.nodes[Math.floor((slot * this.nodes.length) / SLOTS)]!;
  }

  /** The nodes of each slot. */
  table(): (readonly string[])[] {
    const { nodes } = this;
    const share = SLOTS / nodes.length;
    const table = new Array<readonly string[]>(SLOTS);
    nodes.forEach((node, i) => table.fill([node], i * share, (i + 1) * share));
    for (const [slot, node] of this.#moved) table[slot] = [node];
    return table;
  }

  /** That node has the slot from now on. */
  assign(slot: number, node: string): void {
    this.#moved.set(slot, node);
    this.migration = undefined;
  }

  /**
   * Ends a command that this node does not carry out, by the rules of `getNodeByQuery` in Redis 7.
   *
   * @param isAsking whether the client was sent by the node that the slot comes from
   * @throws with what the client is to do
   */
  check(node: string, keyspace: Keyspace, { keys, areChannels }: Concern, isAsking: boolean): void {
    const names = [...new Set(keys)];
    const [slot, ...others] = new Set(names.map((key) => slotOf(key)));
    if (slot === undefined) return;
    if (others.length > 0) fail("CROSSSLOT Keys in request don't hash to the same slot");
    const owner = this.ownerOf(slot);
    const to = this.migration?.slot === slot ? this.migration.to : undefined;
    const isMissing = (key: string) => keyspace.entry(key) === undefined;
    const missing = to === undefined || areChannels ? 0 : names.filter(isMissing).length;
    if (owner === node && missing > 0)
      fail(missing < names.length ? TRY_AGAIN : `ASK ${slot} ${to}`);
    const isGuest = isAsking && to === node;
    if (isGuest && names.length > 1 && missing > 0) fail(TRY_AGAIN);
    if (owner !== node && !isGuest) fail(`MOVED ${slot} ${owner}`);
  }
}

const TRY_AGAIN = 'TRYAGAIN Multiple keys request during rehashing of slot';
