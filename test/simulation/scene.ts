import type { Request } from '../../lib/zookeeper/connection/transport.js';
import { mutex, type SimulatedLock } from './locks.js';
import { closeDown } from './run-schedule.js';
import { Dice } from './dice.js';
import type { LockQueue } from './lock-queue.js';
import { Timing } from './timing.js';
import type { Visit } from './operation.js';
import { Visitor } from './guests.js';
import { World } from './world.js';

/** A world with one lock and three connected clients, for a scenario in single steps. The judge checks it. */
export class Scene {
  /** Timeout of all sessions, in milliseconds. */
  static readonly SESSION_TIMEOUT = 10_000;
  /** The longest that anything takes when nothing is wrong, in milliseconds. */
  static readonly SOON = 20 * Timing.latency;

  readonly world = new World({ dice: new Dice(1), isAsking: false, containerInterval: 60_000 });
  readonly lock: SimulatedLock;
  readonly ann: Visitor;
  readonly bob: Visitor;
  readonly cid: Visitor;

  private constructor(makeLock: (world: World) => SimulatedLock) {
    this.lock = makeLock(this.world);
    this.ann = this.join();
    this.bob = this.join();
    this.cid = this.join();
  }

  /** Default: with a mutex. */
  static async set(makeLock = (world: World) => mutex(world, 'a')): Promise<Scene> {
    const scene = new Scene(makeLock);
    for (const visitor of [scene.ann, scene.bob, scene.cid]) await scene.connected(visitor);
    return scene;
  }

  get queue(): LockQueue {
    return this.lock.queue!;
  }

  end(): Promise<void> {
    return closeDown(this.world);
  }

  join(): Visitor {
    return new Visitor(this.world.judge, this.world.addClient(Scene.SESSION_TIMEOUT), this.lock);
  }

  /** Acquires the lock, which is free. */
  async take(visitor: Visitor): Promise<Visit> {
    return this.soon(visitor.acquire() as Promise<Visit>);
  }

  /** Queues for the lock; resolves when the visitor waits, with the pending visit. */
  async wait(visitor: Visitor): Promise<{ visit: Promise<Visit> }> {
    const length = this.queue.nodes.length;
    const visit = visitor.acquire() as Promise<Visit>;
    await this.world.until(() => this.queue.nodes.length > length, Scene.SOON);
    await this.world.pass(Scene.SOON);
    return { visit };
  }

  leave(visitor: Visitor, visit: Visit): Promise<void> {
    return this.soon(visitor.release(visit));
  }

  /** Resolves with the promise, which has to settle within a few latencies. */
  soon<T>(promise: Promise<T>): Promise<T> {
    return this.world.wait(promise, Scene.SOON);
  }

  /** Resolves with the promise, which may have to wait until a session expires. */
  later<T>(promise: Promise<T>): Promise<T> {
    return this.world.wait(promise, 2 * Scene.SESSION_TIMEOUT);
  }

  connected({ client }: Visitor): Promise<void> {
    return this.world.until(() => client.connection.isConnected, Scene.SESSION_TIMEOUT);
  }

  /** Cuts the connection of that client once, when it has just sent such a request. */
  cutAfterSending(op: Request['op'], { client }: Visitor, unread: 'lost' | 'processed'): void {
    this.world.onSent = (sender, request) => {
      if (sender !== client || request.op !== op) return;
      this.world.onSent = () => {};
      client.cut(unread);
    };
  }

  /** What a lease reports of itself: `held`, `lost`, or something that must not be. */
  stateOf({ lease }: Visit): string {
    const { aborted } = lease.signal; // first: when it is asked whether it is held, a lease checks for its loss
    if (lease.isHeld) return aborted ? 'held, although its signal has aborted' : 'held';
    return aborted ? 'lost' : 'lost in silence';
  }

  /** The clients with nodes in the queue, in their order. */
  get order(): (Visitor | undefined)[] {
    const visitors = [this.ann, this.bob, this.cid];
    return this.queue.nodes.map(({ owner }) =>
      visitors.find(({ client }) => client.connection.session?.id === owner),
    );
  }
}
