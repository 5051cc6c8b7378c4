import type { SimulatedClient } from './client.js';
import type { Dice } from './dice.js';
import { Visitor, type Wish } from './guests.js';
import type { SimulatedLock } from './locks.js';
import { Observer } from './observer.js';
import type { Operation, Visit } from './operation.js';
import { Company, runSchedule, type Schedule } from './run-schedule.js';
import { Times } from './timing.js';
import type { World } from './world.js';

/** How far the wall clocks of two machines may differ, in ms. */
const SKEW = 5_000;

/** Random schedules in which the holders of some locks wait for others of them, in any order. */
export function scheduleOfDeadlocks(
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
): Schedule {
  const begin = (world: World, dice: Dice, duration: number) => {
    const locks = lay(world, dice);
    const judge = new DeadlockJudge(world);
    const company = new Company(world);
    for (const [i, client] of world.clients.entries()) {
      client.process.skew = dice.integer(0, SKEW) + i / 1_000; // no two waits have begun at the same time
      judge.listenTo(client);
      const visitors = locks.map((lock) => new Visitor(world.judge, client, lock));
      for (let left = dice.integer(1, 2); left > 0; left--)
        company.add(client, new NestingGuest(visitors, dice, world.onDeadlock).live(duration));
    }
    return company;
  };
  return (seed) => runSchedule(seed, begin, { hasDeadlocks: true });
}

/** Holds one lock and waits for another inside, again and again. */
class NestingGuest {
  constructor(
    private readonly visitors: readonly Visitor[],
    private readonly dice: Dice,
    private readonly onDeadlock: 'warn' | 'reject',
  ) {}

  async live(until: number): Promise<void> {
    const { client } = this.visitors[0]!;
    while (client.closedAt === undefined && client.process.now() < until) {
      await client.sleep(this.dice.time(this.dice.pick([0, 100, 1_000])));
      await this.#enter(this.visitors);
    }
  }

  async #enter(visitors: readonly Visitor[], outer?: Visit): Promise<void> {
    const { dice } = this;
    const visitor = dice.pick(visitors);
    const others = visitors.filter((it) => it !== visitor);
    const stay = async (visit: Visit) => {
      await visitor.client.sleep(dice.time(dice.pick([0, 50, 500])));
      if (others.length > 0 && dice.chance(outer ? 0.4 : 0.9)) await this.#enter(others, visit);
      await visitor.client.sleep(dice.time(dice.pick([0, 50])));
    };
    await visitor.using(stay, this.#wish(), outer);
  }

  /** Where nobody breaks a deadlock, it has to end by itself. */
  #wish(): Wish {
    const { dice, onDeadlock } = this;
    const limit = dice.pick([500, 1_500, 3_000, 50_000]) * dice.between(0.8, 1.2);
    if (onDeadlock === 'reject' && dice.chance(0.6)) return {};
    return dice.chance(0.5) ? { wait: limit } : { wait: 2 * limit, abortAfter: limit };
  }
}

/** Operations each of which waits for a lock inside of which the next one waits. */
interface Circle {
  readonly id: string;
  readonly operations: readonly Operation[];
  readonly since: number;
}

/**
 * A deadlock is reported only if the circle was there, by one of those in it; and one that lasts is reported.
 *
 * It sees all that is held and awaited at the moment. What clients learn of each other is older.
 */
export class DeadlockJudge extends Observer {
  /** The circles that are there. */
  #circles = new Map<string, Circle>();
  /** All circles that an operation was in. */
  readonly #past = new Map<Operation, Map<string, Circle>>();
  /** Those whose circle was reported. */
  readonly #named = new Set<Operation>();

  /**
   * The longest until the next two looks, in ms: a pause, and two questions with their answers; with a look before that had seen
   * nothing yet.
   */
  static readonly LONGEST = 30_000 + 4 * (2_000 + 2_000) + 1_000;

  constructor(world: World) {
    super(world);
    world.observers.push(this);
    world.judge.deadlocks = this;
  }

  listenTo(client: SimulatedClient): void {
    client.events.on('deadlock', ({ key, error }) => {
      const names = error.circle.map((it) => `${it.client} ${it.waitsFor}`);
      const printed = names.sort().join(', ');
      this.note('deadlock named', `${client.name}: ${printed}`);
      const { underWay } = this.world.judge;
      const own = [...underWay].filter(
        ({ options }) => options.client === client && options.lock.key === key,
      );
      const isReal = (operation: Operation) =>
        this.#circlesOf(operation).some((circle) => described(circle) === printed);
      const named = own.filter(isReal);
      if (named.length === 0) this.accuse(`a deadlock is reported that never was: ${printed}`);
      for (const operation of named) this.#named.add(operation);
    });
  }

  /** Of a failure: one operation of each circle is rejected. Where two circles meet, that may be two of one of them. */
  reasons(operation: Operation): string[] {
    if (this.world.onDeadlock !== 'reject') return [];
    const isElsewhere = (victim: Operation) =>
      this.#circlesOf(victim).some(({ operations }) => !operations.includes(operation));
    const isAlone = ({ operations }: Circle) =>
      operations.every((it) => it === operation || !it.isVictim || isElsewhere(it));
    return this.#circlesOf(operation).some(isAlone) ? ['LOCK_DEADLOCK'] : [];
  }

  override check(): void {
    const before = this.#circles;
    this.#circles = new Map();
    for (const operations of circlesAmong(this.#waiting())) {
      const id = operations.map(({ options }) => options.id).join();
      const circle = before.get(id) ?? this.#begun(id, operations);
      this.#circles.set(id, circle);
      this.#checkLasting(circle);
    }
  }

  #begun(id: string, operations: readonly Operation[]): Circle {
    const circle = { id, operations, since: this.now };
    this.note('circle', `${id}: ${described(circle)}`);
    for (const operation of operations) {
      const past = this.#past.get(operation) ?? new Map<string, Circle>();
      this.#past.set(operation, past.set(id, circle));
    }
    return circle;
  }

  #checkLasting({ id, operations, since }: Circle): void {
    if (operations.some((it) => this.#named.has(it))) return;
    const calm = operations.map(({ options }) => options.client.calmSince);
    if (this.now > Times.latest(since, ...calm) + DeadlockJudge.LONGEST)
      this.accuse(`the circle ${id} is not reported`);
  }

  #circlesOf(operation: Operation): Circle[] {
    return [...(this.#past.get(operation)?.values() ?? [])];
  }

  #waiting(): Operation[] {
    const isInside = ({ options: { outer, client, isTry } }: Operation) =>
      outer !== undefined && !isTry && !client.process.isDead;
    return [...this.world.judge.underWay].filter(isInside);
  }
}

/** All circles among the operations, each from the oldest of its operations on. */
function circlesAmong(operations: readonly Operation[]): Operation[][] {
  const circles: Operation[][] = [];
  const follow = (way: readonly Operation[]) => {
    const [first, last] = [way[0]!, way.at(-1)!];
    for (const next of operations) {
      if (!isInside(next, last)) continue;
      if (next === first) circles.push([...way]);
      else if (next.options.id > first.options.id && !way.includes(next)) follow([...way, next]);
    }
  };
  for (const operation of operations) follow([operation]);
  return circles;
}

/** Whether the caller of `operation` holds what the other one waits for. */
function isInside(operation: Operation, { options: { lock } }: Operation): boolean {
  for (let visit = operation.options.outer; visit !== undefined; visit = visit.outer) {
    const { hold, lease } = visit;
    if (hold.queue === lock.queue && hold.endedAt === undefined && hold.leases.has(lease))
      return true;
  }
  return false;
}

const described = ({ operations }: Circle) =>
  operations
    .map(({ options: { client, lock } }) => `${client.name} ${lock.key}`)
    .sort()
    .join(', ');
