import { setTimeout as delay } from 'node:timers/promises';
import type { HandOff, MutexOptions } from '../../../lib/core/lock.js';
import { eventually } from '../../support/time.js';
import { withOptions } from '../node/mutex-options.js';
import type { Peer } from '../support/peer.js';
import { type Ground, tracesOnceAs } from './grounds.js';
import { History } from './history.js';
import { LineObserver } from './observers.js';
import type { Recipe } from './recipes.js';
import { processOf, type Share, Turns } from './turns.js';

/** Who contends, and for how long. */
export interface HandOffPlan {
  /** Options of the mutex in each Node process. */
  readonly nodes: readonly (MutexOptions & { readonly handOff: HandOff })[];
  /** Number of workers of each Node process. */
  readonly callers: number;
  /** Number of Java processes, each of which has one worker. */
  readonly javas: number;
  /** In ms. */
  readonly duration: number;
}

/** The bound by count in one process, the bound by time in the other. */
export const HAND_OFF_PLAN: HandOffPlan = {
  nodes: [
    { handOff: { atMost: 25, for: 60_000, keep: 1_000 } },
    { handOff: { atMost: 1_000_000, for: 150 } },
  ],
  callers: 50,
  javas: 2,
  duration: 60_000,
};

/** Result of one run. Times are in ms. */
export interface HandOffReport {
  /** By process. */
  readonly shares: ReadonlyMap<string, Share>;
  /** The longest that a turn of each Node process may take. */
  readonly turnBounds: ReadonlyMap<string, number>;
  /** The longest that Java may wait. */
  readonly waitBound: number;
  /** What breaks a promise, as text. */
  readonly faults: readonly string[];
  /** How often a lease reported to its holder that the lock was lost, and how often a library threw. */
  readonly losses: number;
  readonly failures: number;
  /** What locks left on the servers. */
  readonly before: string;
  readonly after: string;
}

/** The longest that a worker has the lock: 5 ms of sleep, and the reports of its begin and its end. */
const HOLD = 10;
/** From the end of a hold in one process to the begin in another: the release, the message of the servers, the next grant. */
const PASSAGE = 50;
/** What a machine with more busy processes than cores adds once to a turn, or to a wait, as it lets some stand still. */
const STANDSTILL = 500;

/** Until the bound that is reached first; the caller that has the lock then keeps it. */
function turnBound({ atMost, for: ms }: HandOff): number {
  return Math.min(atMost * HOLD, ms) + HOLD;
}

/** How many rounds Redisson may lose, on Redis, where any waiter may get the lock: it goes first, but not always. */
const ROUNDS = 10;

/**
 * The longest that one of the Java processes waits. On ZooKeeper the queue is in the order of arrival, and no Node process has more
 * than one node in it: so one turn of each of them, and one hold of each other Java process, are ahead of it.
 */
function waitBound({ nodes, javas }: HandOffPlan, isOrdered: boolean): number {
  const turns = nodes.map(({ handOff }) => turnBound(handOff) + PASSAGE);
  const holds = (javas - 1) * (HOLD + PASSAGE);
  const round = turns.reduce((sum, ms) => sum + ms, holds + PASSAGE);
  return (isOrdered ? 1 : ROUNDS) * round + STANDSTILL;
}

const isJava = (worker: string) => worker.startsWith('java');

/** Node processes with many callers of one mutex each, which hand it on, beside Java processes that want it too. */
export class HandOffFleet {
  private readonly peers = new Map<string, Peer>();
  /** The locks of the workers. */
  private readonly locks = new Map<string, string>();
  private readonly history: History;
  private turns: Turns | undefined;

  private constructor(
    private readonly ground: Ground,
    private readonly recipe: Recipe,
    private readonly plan: HandOffPlan,
  ) {
    this.history = new History({ ...recipe, isOrdered: false }, this.locks); // `Turns` knows the order
  }

  static async run(ground: Ground, recipe: Recipe, plan: HandOffPlan): Promise<HandOffReport> {
    const fleet = new HandOffFleet(ground, recipe, plan);
    try {
      await fleet.start();
      return await fleet.work();
    } finally {
      await Promise.all([...fleet.peers.values()].map((peer) => peer.stop()));
    }
  }

  private async start(): Promise<void> {
    const { ground, peers } = this;
    const { nodes, javas } = this.plan;
    for (let n = 1; n <= nodes.length; n++) peers.set(`node${n}`, await ground.startPeer('node'));
    for (let n = 1; n <= javas; n++) peers.set(`java${n}`, await ground.startPeer('java'));
  }

  private async work(): Promise<HandOffReport> {
    const { ground, recipe, plan, peers, locks, history } = this;
    const before = await ground.traces();
    const lock = recipe.lock(await ground.prepare(recipe, 1), 0, peers.size);
    const ofNode = plan.nodes.map((options) => withOptions(lock, options));
    for (const [n, specification] of ofNode.entries())
      for (let caller = 1; caller <= plan.callers; caller++)
        locks.set(`node${n + 1}.${caller}`, specification);
    for (let n = 1; n <= plan.javas; n++) locks.set(`java${n}`, lock);

    const observer = await LineObserver.start((...line) => this.note(...line));
    const work = Promise.all(
      [...locks].map(([worker, of]) => this.peerOf(worker).actor().work(of, observer.port, worker)),
    );
    await Promise.race([this.measured(), work]); // that rejects when one of them dies
    await Promise.all([...peers.values()].map((peer) => peer.actor().rest()));
    const failures = (await work).reduce((sum, count) => sum + count, 0);
    await observer.stop();
    const { losses } = history;
    return {
      ...this.judged(),
      losses,
      failures,
      before,
      after: await tracesOnceAs(before, ground),
    };
  }

  /** Until all were served, connections are made, and Java loads its classes. */
  private async measured(): Promise<void> {
    const { history, locks, plan, recipe } = this;
    const isReady = () => history.hasServedAll();
    await eventually('all were served', isReady, { within: 60_000 });
    const bounds = new Map(plan.nodes.map(({ handOff }, n) => [`node${n + 1}`, handOff]));
    this.turns = new Turns(locks.keys(), bounds, recipe.isOrdered, performance.now());
    await delay(plan.duration);
  }

  private async note(worker: string, event: string, argument: string): Promise<void> {
    const now = performance.now();
    if (event === 'begin') {
      this.history.begin(worker, Number(argument));
      this.turns?.begin(worker, Number(argument), now);
    } else {
      this.history[event === 'lost' ? 'lost' : 'end'](worker);
      this.turns?.end(worker, now);
    }
  }

  private judged() {
    const { plan, peers, recipe, history } = this;
    const turns = this.turns!;
    const shares = new Map([...peers.keys()].map((name) => [name, turns.share(name)]));
    const turnBounds = new Map(
      plan.nodes.map(({ handOff }, n) => [`node${n + 1}`, turnBound(handOff) + STANDSTILL]),
    );
    const ofWaits = waitBound(plan, recipe.isOrdered);
    const faults = [...history.faults, ...turns.faults];
    for (const [name, { holds, mostHolds, longestTurn, longestWait }] of shares) {
      if (holds === 0) faults.push(`${name} was not served`);
      if (mostHolds < 2 && !isJava(name)) faults.push(`${name} did not hand the lock on`);
      if (longestTurn > (turnBounds.get(name) ?? Infinity))
        faults.push(`${name} had a turn of ${Math.round(longestTurn)} ms`);
      if (isJava(name) && longestWait > ofWaits)
        faults.push(`${name} waited for ${Math.round(longestWait)} ms`);
    }
    return { shares, turnBounds, waitBound: ofWaits, faults };
  }

  private peerOf(worker: string): Peer {
    return this.peers.get(processOf(worker))!;
  }
}

/** True if no promise was broken, and nothing is left behind. */
export function keepsPromises({ faults, before, after }: HandOffReport): boolean {
  return faults.length === 0 && before === after;
}

/** A report as text, a line for each process. */
export function handOffText(ground: string, report: HandOffReport): string {
  const { shares, faults, losses, failures, before, after } = report;
  const summary = [
    `${ground}, handed on in Node:`.padEnd(45),
    `${faults.length} faults${faults.map((fault) => `\n  ${fault}`).join('')}`,
    `${losses} lost, ${failures} failed`,
    before === after ? 'nothing left behind' : `LEFT BEHIND:\n${before}\nNOW\n${after}`,
  ].join(' | ');
  return [summary, ...[...shares].map((share) => shareText(share, report))].join('\n');
}

function shareText(
  [name, share]: readonly [string, Share],
  { turnBounds, waitBound: ofJava }: HandOffReport,
): string {
  const { holds, turns, mostHolds, longestTurn, longestWait, mostPassed } = share;
  const [turn, wait] = [Math.round(longestTurn), Math.round(longestWait)];
  return turnBounds.has(name)
    ? `  ${name}: ${holds} holds in ${turns} turns of at most ${mostHolds} holds and ${turn} ms (bound ${turnBounds.get(name)}); ` +
        `a caller waited for at most ${wait} ms`
    : `  ${name}: ${holds} holds; waited for at most ${wait} ms (bound ${ofJava}), while others had ${mostPassed} turns`;
}
