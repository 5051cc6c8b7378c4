import type { Clock } from '../../../../lib/core/clock.js';
import { slotOf } from '../../../../lib/redis/connection/cluster-slots.js';
import type { LuaMachine } from '../../../../lib/testing/redis/lua/lua-machine.js';
import { copyOf, Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import { SimulatedServer } from '../../../../lib/testing/redis/server/redis-server.js';
import { SlotMap } from './slot-map.js';
import { ServerPort } from '../../../../lib/testing/redis/network/server-port.js';
import type { Servers } from './servers.js';

const NODES = ['node-a:6379', 'node-b:6379'];
const START = 1_700_000_000_000;

/** Two masters of a cluster, each with one half of the slots. */
export class ClusterServers implements Servers {
  readonly slots = new SlotMap(NODES);
  /** What the nodes have together. */
  readonly keyspace: Keyspace;
  onCommand: () => void = () => {};
  onChange: (keys: ReadonlySet<string>) => void = () => {};
  /** When a slot has last come to its new node; `Infinity` while one is under way. */
  movedAt = 0;
  readonly #ports: ReadonlyMap<string, ServerPort>;

  constructor(
    private readonly clock: Clock,
    machine: Pick<LuaMachine, 'run'>,
  ) {
    const now = () => Math.floor(this.timeAt(clock.now()));
    this.keyspace = new Keyspace(now);
    const make = (node: string): [string, ServerPort] => {
      const server = new SimulatedServer(machine, now, node.at(5)!.repeat(40));
      server.checkSlot = (...about) => this.slots.check(node, server.keyspace, ...about);
      server.onCommand = () => this.onCommand();
      server.onChange = (_, keys) => this.#changed(server.keyspace, keys);
      return [node, new ServerPort(server)];
    };
    this.#ports = new Map(NODES.map(make));
  }

  get ports(): readonly ServerPort[] {
    return [...this.#ports.values()];
  }

  portAt(address: string): ServerPort {
    return this.#ports.get(address)!;
  }

  timeAt(time: number): number {
    return START + time;
  }

  /** The keys of that slot which have not been moved. */
  leftToMove(key: string): string[] {
    const slot = slotOf(key);
    return this.#ownerOf(key).keyspace.keys.filter((one) => slotOf(one) === slot);
  }

  /** The slot of this key goes to the other node. */
  beginToMove(key: string): void {
    const slot = slotOf(key);
    const to = NODES.find((node) => node !== this.slots.ownerOf(slot))!;
    this.slots.migration = { slot, to };
    this.movedAt = Infinity;
  }

  move(key: string): void {
    const source = this.#ownerOf(key).keyspace;
    this.portAt(this.slots.migration!.to).server.keyspace.apply(key, source.entry(key));
    source.apply(key, undefined);
  }

  /** The other node has the slot; the old one ends the subscriptions to its channels. */
  endMoving(): void {
    const { slot, to } = this.slots.migration!;
    const old = this.portAt(this.slots.ownerOf(slot)).server;
    this.slots.assign(slot, to);
    this.movedAt = this.clock.now();
    old.channels.dismiss((channel) => slotOf(channel) === slot);
  }

  #ownerOf(key: string): SimulatedServer {
    return this.portAt(this.slots.ownerOf(slotOf(key))).server;
  }

  #changed(source: Keyspace, keys: ReadonlySet<string>): void {
    for (const key of keys) {
      const entry = source.entry(key);
      this.keyspace.apply(key, entry && copyOf(entry));
    }
    this.onChange(keys);
  }
}
