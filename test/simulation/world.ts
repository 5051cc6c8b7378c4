import type { ErrorPolicy } from '../../lib/core/election/election-backend.js';
import { EmbeddedServer } from '../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../lib/embedded/embedded-transport.js';
import type { Request, Transport } from '../../lib/zookeeper/connection/transport.js';
import { parentPath } from '../../lib/zookeeper/connection/znode-path.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { VirtualClock } from '../support/time.js';
import { SimulatedClient } from './client.js';
import type { Dice } from './dice.js';
import { Ensemble } from './ensemble.js';
import { Judge } from './judge.js';
import { LockQueue, type QueuedNode, type QueueRule } from './lock-queue.js';
import type { ObservedCount } from './locks.js';
import { History, type Observer } from './observer.js';
import { currentOperation } from './operation.js';
import { Timing } from './timing.js';

const EPHEMERAL: ReadonlySet<CreateMode> = new Set([
  CreateMode.EPHEMERAL,
  CreateMode.EPHEMERAL_SEQUENTIAL,
]);

/** Where clients exchange their waits, on behalf of no single operation. */
const EXCHANGE = '/nestjs-interlock/';

export interface WorldOptions {
  readonly dice: Dice;
  /**
   * True: leases are asked all the time, so that they find their loss by the clock. False: they are only listened to, so they
   * have to report it by themselves.
   */
  readonly isAsking: boolean;
  /** How often the server looks for empty containers, in milliseconds. */
  readonly containerInterval: number;
  /** Whether the server is the leader of an ensemble. Default: it is the only one. */
  readonly hasFollowers?: boolean;
  readonly errorPolicy?: ErrorPolicy;
  /** Whether each client has a worker thread that keeps its session. Default: no. */
  readonly hasWorkers?: boolean;
  /** What clients do about deadlocks. Default: they warn. */
  readonly onDeadlock?: 'warn' | 'reject' | undefined;
}

/** A server, its clients, and a judge that observes them, in virtual time. */
export class World {
  readonly clock = new VirtualClock();
  readonly server: EmbeddedServer;
  readonly ensemble?: Ensemble;
  readonly history: History;
  readonly judge: Judge;
  readonly clients: SimulatedClient[] = [];
  /** Shared counts, which accidents change. */
  readonly counts: ObservedCount[] = [];
  /** All that observe beside the judge of the locks. */
  readonly observers: Observer[] = [];
  readonly queues = new Map<string, LockQueue>();
  onSent: (client: SimulatedClient, request: Request) => void = () => {};
  #freezes = 0;
  #relieve = () => {};

  constructor(private readonly options: WorldOptions) {
    const { containerInterval } = options;
    const { clock } = this;
    this.server = new EmbeddedServer({ clock, tickTime: Timing.tick, containerInterval });
    if (options.hasFollowers) this.ensemble = new Ensemble(this.server, clock);
    this.history = new History(() => clock.now());
    this.judge = new Judge(this);
  }

  get isAsking(): boolean {
    return this.options.isAsking;
  }

  /** @param network its way to the server; default: one that accidents disturb */
  addClient(sessionTimeout: number, network?: Transport): SimulatedClient {
    const { clock, server, ensemble, options } = this;
    const { dice, errorPolicy = 'session', onDeadlock } = options;
    const servers = () => ensemble?.servers(dice) ?? embeddedServers;
    const client: SimulatedClient = new SimulatedClient({
      name: `client ${this.clients.length}`,
      clock,
      network,
      transport:
        network ?? ensemble ?? new EmbeddedTransport(server, (flush) => clock.setTimer(flush, 0)),
      servers: servers(),
      errorPolicy,
      sessionTimeout,
      dice,
      onDeadlock,
      eavesdropper: { sent: (request) => this.#sent(client, request) },
      worker: options.hasWorkers
        ? { maxStall: sessionTimeout * dice.pick([1, 1.5, 4]), servers: servers() }
        : undefined,
    });
    client.connection.onStateChange((state) => this.history.note(state, client.name));
    this.judge.warnings.joined(client);
    this.clients.push(client);
    return client;
  }

  /** Lets the judge check the contents of a lock's directory. */
  queue(directory: string, rule: QueueRule): LockQueue {
    const queue = this.observe(directory, rule);
    this.judge.queues.add(queue);
    return queue;
  }

  /** Only reports the contents of a directory: the caller has to judge them. */
  observe(directory: string, rule: QueueRule): LockQueue {
    const queue = new LockQueue(this.server.tree, directory, rule, () => this.clock.now());
    this.queues.set(directory, queue);
    return queue;
  }

  /** Lets time pass until the condition is true, with the judge checking. */
  async until(isOver: () => boolean, limit?: number): Promise<void> {
    const look = () => {
      for (const observer of this.observers) observer.check();
      this.judge.check();
      return isOver();
    };
    try {
      await this.clock.runUntil(look, limit);
    } catch (error) {
      this.history.accuse((error as Error).message);
      this.history.throwIfAccused();
    }
  }

  /** Lets time pass until the promise is resolved, with the judge checking. */
  async wait<T>(promise: Promise<T>, limit?: number): Promise<T> {
    let isOver = false;
    promise.finally(() => (isOver = true)).catch(() => {});
    await this.until(() => isOver, limit);
    return promise;
  }

  /** Lets `ms` pass, with the judge checking. */
  async pass(ms: number): Promise<void> {
    let isOver = false;
    this.clock.setTimer(() => (isOver = true), ms);
    await this.until(() => isOver);
  }

  get onDeadlock(): 'warn' | 'reject' {
    return this.options.onDeadlock ?? 'warn';
  }

  get errorPolicy(): ErrorPolicy {
    return this.options.errorPolicy ?? 'session';
  }

  /** Something disturbs the links between all clients and the servers; the returned function ends that. */
  hinder(): () => void {
    const relieve = this.clients.map((client) => client.hinder());
    return () => {
      for (const each of relieve) each();
    };
  }

  /** Stops the server, and the clocks of its sessions with it; the returned function ends that. */
  freezeServer(): () => void {
    if (this.#freezes++ === 0) {
      this.server.freeze();
      this.#relieve = this.hinder();
    }
    return () => {
      if (--this.#freezes > 0) return;
      this.server.thaw();
      this.#relieve();
    };
  }

  take(node: QueuedNode): void {
    this.server.receive(() => {
      if (node.goneAt !== undefined) return;
      node.taken = { by: 'stranger', at: this.clock.now() };
      this.history.note('taken', node.path);
      this.server.remove(node.path);
    });
  }

  /** Writes to the node as another client, as Curator's `Revoker` does. */
  write(node: QueuedNode): void {
    this.server.receive(() => {
      if (node.goneAt !== undefined) return;
      const { tree } = this.server;
      node.writtenAt = this.clock.now();
      this.history.note('written', node.path);
      tree.setData(node.path, Buffer.from('__REVOKE__'), tree.nextZxid());
    });
  }

  /** Ends the session of that client as an operator. */
  expire(client: SimulatedClient): void {
    this.server.receive(() => {
      const id = client.connection.session?.id;
      if (id === undefined) return;
      for (const queue of this.queues.values())
        for (const node of queue.nodes)
          if (node.owner === id) node.taken = { by: 'operator', at: this.clock.now() };
      this.history.note('session ended', client.name);
      client.disturb();
      this.server.expire(id);
    });
  }

  collectContainers(): void {
    this.server.receive(() => {
      for (const client of this.clients) client.disturb();
      this.server.collectContainers();
    });
  }

  #sent(client: SimulatedClient, request: Request): (rc: number) => void {
    const isOfLock = !('path' in request && request.path.startsWith(EXCHANGE));
    const operation = isOfLock ? currentOperation.getStore() : undefined;
    const queue = request.op === 'create' && this.queues.get(parentPath(request.path));
    if (operation && queue && EPHEMERAL.has(request.mode))
      queue.announce(request.path, (node) => this.judge.queued(operation, queue, node));
    if (operation) this.judge.sent(operation);
    this.onSent(client, request);
    return (rc) => {
      if (operation && request.op === 'getData' && rc === 0)
        operation.watchedAt.set(request.path, this.clock.now());
    };
  }
}
