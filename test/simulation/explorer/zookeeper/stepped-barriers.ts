import { LockError } from '../../../../lib/core/errors/index.js';
import { CreateMode } from '../../../../lib/zookeeper/connection/zookeeper-connection.js';
import type { SimulatedClient } from '../../client.js';
import { Observer, watcher } from '../../observer.js';
import { Times } from '../../timing.js';
import type { World } from '../../world.js';
import type { User } from './users.js';

const KEY = 'a';
const PATH = `/locks/${KEY}`;
/** Those that wait for one that has died give up in the end, in ms. */
const PATIENCE = 8_000;

/** A barrier that one user sets and removes, and others wait on, one step after the other. */
export class SteppedBarrier extends Observer {
  override readonly lasting = 2; // the barrier of one that has died, in its directory
  /** When it was last not set. */
  #unsetAt: number = Times.never;
  /** Since when it is not set, if it was. */
  #removedAt = 0;
  readonly #watcher = watcher(() => this.#look());

  constructor(world: World) {
    super(world);
    world.observers.push(this);
    this.#look();
  }

  async raise(user: User): Promise<void> {
    const barrier = user.client.locks.barrier(KEY);
    await user.turn('sets it');
    await this.#ends(user.client, 'set', barrier.setBarrier());
    await user.turn('removes it');
    await this.#ends(user.client, 'removed', barrier.removeBarrier());
  }

  async wait(user: User): Promise<void> {
    const { name, locks } = user.client;
    await user.turn('waits');
    const since = this.now;
    const waiting = locks.barrier(KEY).waitOnBarrier({ wait: PATIENCE });
    const code = await waiting.then(() => '', codeOf);
    if (code !== '' && code !== 'LOCK_TIMEOUT') this.accuse(`${name} fails with ${code}`);
    if (code === '' && this.#unsetAt < since) this.accuse(`${name} passes a barrier that is set`);
    if (code !== '' && user.client.calmSince < this.#removedAt)
      this.accuse(`${name} waits on nothing`);
    this.note(code === '' ? 'passed' : 'waited in vain', `request 1 of ${name}`);
  }

  /** Where there was no answer in time, it may have ended or not. */
  async #ends(client: SimulatedClient, what: string, call: Promise<void>): Promise<void> {
    const startedAt = this.now;
    const code = await call.then(() => '', codeOf);
    const isForAReason = code === 'LOCK_CONNECTION' && client.calmSince > startedAt;
    if (code !== '' && !isForAReason) this.accuse(`${client.name} has not ${what} it: ${code}`);
    this.note(code === '' ? what : `perhaps ${what}`, `request 1 of ${client.name}`);
  }

  override stop(): void {
    this.world.server.tree.forget(this.#watcher);
  }

  #look(): void {
    const { tree } = this.world.server;
    tree.watchData(PATH, this.#watcher);
    const isSet = tree.get(PATH) !== undefined;
    this.#unsetAt = isSet ? this.now : Times.never;
    this.#removedAt = isSet ? 0 : this.now;
  }
}

/** A member that is inside, and does not leave yet. */
interface Member {
  readonly client: SimulatedClient;
  /** A node that is there as long as its session. */
  readonly sign: string;
}

/** A double barrier that users enter and leave one step after the other: all begin together, and end together. */
export class SteppedDoubleBarrier extends Observer {
  override lasting = 0;
  #arrived = 0;
  #begun = 0;
  readonly #inside = new Set<Member>();
  /** Those that have lost a session. */
  readonly #lost = new Set<SimulatedClient>();

  /** @param memberQty how many users there are */
  constructor(
    world: World,
    private readonly memberQty: number,
  ) {
    super(world);
    world.observers.push(this);
    for (const client of world.clients)
      client.connection.onStateChange((state) => {
        if (state === 'LOST') this.#lost.add(client);
      });
  }

  /**
   * Where all members have lost their sessions, the node `ready` stays; and in any case its two directories, as a server collects no
   * container that never had a child.
   */
  override stop(): void {
    const { clients, server } = this.world;
    const isGone = (client: SimulatedClient) => client.process.isDead || this.#lost.has(client);
    if (clients.every(isGone)) this.lasting = server.tree.get(`${PATH}/ready`) ? 3 : 2;
  }

  async pass(user: User): Promise<void> {
    const { client } = user;
    const barrier = client.locks.doubleBarrier(KEY, this.memberQty);
    await user.turn('enters');
    this.#arrived += 1;
    if (!(await this.#ends(client, 'begun', barrier.enter({ wait: PATIENCE })))) return;
    if (this.#arrived < this.memberQty) this.#accuse(client, 'begins before all have arrived');
    const member = this.#comesIn(client);
    await user.turn('leaves');
    this.#inside.delete(member);
    this.#note('leaves', client);
    const others = [...this.#inside]; // one that comes in later may still find the barrier open, when this one has looked already
    const hasLeft = await this.#ends(client, 'ended', barrier.leave({ wait: PATIENCE }), member);
    if (hasLeft && others.some((other) => this.#inside.has(other) && this.#isThere(other)))
      this.#accuse(client, 'ends although another one has not');
  }

  #comesIn(client: SimulatedClient): Member {
    const { tree } = this.world.server;
    const member = { client, sign: `/sign-${(this.#begun += 1)}` };
    this.#inside.add(member);
    const { EPHEMERAL: mode } = CreateMode;
    const sessionId = client.connection.session?.id ?? '';
    const names = [...tree.get(PATH)!.children];
    const isKnown = names.some((name) => tree.get(`${PATH}/${name}`)!.owner === sessionId);
    const node = { data: Buffer.alloc(0), mode, zxid: tree.nextZxid(), sessionId };
    if (isKnown) tree.insert(member.sign, node); // else the session is over already
    return member;
  }

  /** Whether the others have to wait for it. */
  #isThere({ client, sign }: Member): boolean {
    return !client.process.isDead && this.world.server.tree.get(sign) !== undefined;
  }

  /** Resolves to false if the call rejects, for a good reason. */
  async #ends(
    client: SimulatedClient,
    what: string,
    call: Promise<void>,
    member?: Member,
  ): Promise<boolean> {
    try {
      await call;
      this.#note(what, client);
      return true;
    } catch (error) {
      const code = codeOf(error);
      const hasLost =
        this.#lost.size > 0 || this.world.clients.some(({ process }) => process.isDead);
      const isForAReason =
        (code === 'LOCK_TIMEOUT' && hasLost) ||
        (code === 'LOCK_LOST' && member !== undefined && !this.#isThere(member));
      if (!isForAReason) this.#accuse(client, `has not ${what}: ${code}`);
      this.#note(`not ${what}`, client);
      return false;
    }
  }

  #note(what: string, { name }: SimulatedClient): void {
    this.note(what, `request 1 of ${name}`);
  }

  #accuse({ name }: SimulatedClient, what: string): void {
    this.accuse(`${name} ${what}`);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof LockError ? error.code : String(error);
