import * as scripts from '../../../../../lib/redis/scripts/index.js';
import { Dice } from '../../../dice.js';
import { carryOut, type WorldRun } from '../../../explorer/carry-out.js';
import { type Chooser, DepthFirst } from '../../../explorer/choosers.js';
import type { RunReport } from '../../../explorer/exploration.js';
import { Footprint } from '../../../explorer/footprint.js';
import { TOGETHER } from '../../../explorer/carry-out.js';
import { Story } from '../../../explorer/story.js';
import { Acts } from '../../../explorer/acts.js';
import { ClientStirs } from '../../explorer/client-stirs.js';
import { RandomOfClients } from '../../explorer/random-of-clients.js';
import { RedisOutcome } from '../../explorer/redis-outcome.js';
import { SteppedNetwork } from '../../explorer/stepped-network.js';
import { corrupted, machine } from '../../world/corrupted.js';
import { drawFrom } from '../../../seeded-ids.js';
import type { RedLockProcess } from '../red-lock-process.js';
import { closeDown } from '../red-lock-schedules.js';
import { RedLockWorld } from '../red-lock-world.js';
import { LikeClients } from './like-clients.js';
import { LikeServers } from './like-servers.js';
import { RED_LOCK_FAULTS, RedLockTroubles } from './red-lock-faults.js';
import { RedLockGuest, RELEASES } from './red-lock-guest.js';
import { KEY, type RedLockScenario, type RedLockSize } from './red-lock-scenarios.js';
import { type RedLockStep, RedLockSteps } from './red-lock-steps.js';

const SERVERS = 3;
/** Of all leases, in ms. */
const WATCHDOG = 20_000;
/** A timer that is set for later is the renewal of a lease; with it, nothing that was asked depends on the order of the answers. In ms. */
const SOON = 5_000;
/** Each step takes a little time, so that it can be seen which one came first, in ms. */
const STEP = 0.001;
/** The longest that users wait for each other when nothing else happens, in ms. */
const LONGEST = 60_000;
/** Until what faults have left is over: leases without a holder, and what is known of waiters that have gone, in ms. */
const SETTLED = 4 * WATCHDOG;
/** Until what is under way has arrived, in ms. */
const MOMENT = 100;
/** Far more than any run has where no client asks again and again. */
const MOST_STEPS = 400;

/**
 * Carries out one run of a scenario, step by step, as the chooser says.
 *
 * @param corrupt what has become of a script
 */
export function playRedLock(
  scenario: RedLockScenario,
  size: RedLockSize,
  chooser: Chooser,
  corrupt?: (source: string) => string,
): Promise<RunReport> {
  return carryOut(new Run(scenario, size, chooser, corrupt), chooser, MOST_STEPS);
}

class Run implements WorldRun<RedLockStep> {
  isAccused = false;
  readonly #outcome = new RedisOutcome();
  readonly #world: RedLockWorld;
  readonly #network: SteppedNetwork;
  readonly #stirs: ClientStirs;
  readonly #story: Story;
  readonly #acts = new Acts<RedLockGuest>();
  readonly #troubles: RedLockTroubles;
  /** The clients of the users that are there. */
  readonly #inside: RedLockProcess[] = [];
  readonly #guests: RedLockGuest[] = [];
  readonly #random = new RandomOfClients();
  readonly #servers: LikeServers;
  readonly #steps: RedLockSteps;
  #footprint = new Footprint();

  constructor(
    private readonly scenario: RedLockScenario,
    private readonly size: RedLockSize,
    private readonly chooser: Chooser,
    corrupt?: (source: string) => string,
  ) {
    drawFrom(() => this.#random.next());
    const rates = Array.from({ length: SERVERS }, () => 1);
    const lua = corrupt ? corrupted(corrupt) : machine;
    const way = () => this.#network.way();
    const world = (this.#world = new RedLockWorld(new Dice(1), lua, rates, KEY, way));
    const { clock } = world;
    this.#network = new SteppedNetwork(clock);
    this.#stirs = new ClientStirs(clock, SOON);
    this.#story = new Story(() => clock.now());
    const { isReduced } = chooser;
    const areLike = isReduced && scenario.isOfTries === true;
    const servers = (this.#servers = new LikeServers(SERVERS, areLike));
    const clients = new LikeClients(isReduced && scenario.isOfLikes);
    const passing = {
      outlive: (repair?: () => void) => this.#outlive(repair),
      untilTimer: () => this.#advance((clock.nextAt ?? clock.now()) + TOGETHER - clock.now()),
    };
    const kinds = size.kinds ?? RED_LOCK_FAULTS;
    this.#troubles = new RedLockTroubles(world, kinds, passing, { servers, clients });
    this.#steps = new RedLockSteps({
      world,
      acts: this.#acts,
      troubles: this.#troubles,
      story: this.#story,
      faults: size.faults,
      servers,
      clients,
      there: () => this.#there,
    });
    this.#listen();
  }

  get report(): Omit<RunReport, 'isComplete' | 'steps'> {
    const outcome = this.#outcome.lines.join('\n');
    const views = [outcome, ...this.#outcome.views].join('\n');
    return { outcome, views, story: this.#story };
  }

  get possible(): RedLockSteps {
    return this.#steps;
  }

  check(): void {
    this.#world.judge.check();
  }

  accuse(what: string): void {
    this.#world.history.accuse(what);
  }

  async begin(): Promise<void> {
    const world = this.#world;
    const { clients: count, requests = count, faults } = this.size;
    for (const { server } of world.servers.ports)
      for (const { sha1, source } of Object.values(scripts)) server.learn(sha1, source);
    for (let i = 0; i < count; i++) {
      this.#random.actor = `client ${i}`;
      await world.addClient(WATCHDOG);
      this.#stirs.add(world.clients[i]!.networks);
    }
    this.#random.actor = '';
    await world.clock.advance(Math.ceil(world.clock.now()) + 1.5 - world.clock.now());
    world.judge.isMajorityWell = true;
    if (faults === 0) world.judge.strictSince = 0;
    for (let i = 0; i < requests; i++) {
      const client = world.clients[i % count]!;
      const name = `user ${String.fromCharCode(97 + i)}`;
      const guest = new RedLockGuest(name, client, world, this.#acts);
      this.#guests.push(guest);
      this.#inside.push(client);
      this.scenario.life(i, guest).then(
        () => void this.#inside.splice(this.#inside.indexOf(client), 1),
        (error: Error) => world.judge.accuse(`the code of a user fails: ${error.stack}`),
      );
    }
    await world.clock.advance(STEP);
    const { isHeld = false } = this.scenario;
    if (isHeld) this.#acts.do(this.#acts.names[0]!);
    await world.time.pass(isHeld ? 10 : 0);
    this.#network.isFlowing = false;
  }

  async end(): Promise<void> {
    const { clock, judge, open, time } = this.#world;
    this.#story.news('from now on all works again');
    this.#troubles.end();
    this.#network.isFlowing = true;
    await time.until(() => open.every(({ isReady }) => isReady), LONGEST);
    for (const guest of this.#guests) guest.leave();
    for (const name of this.#acts.names) if (name.endsWith(RELEASES)) this.#acts.do(name); // of a run that has not come to its end
    await time.pass(this.size.faults > 0 ? SETTLED : MOMENT);
    judge.expectFree();
    judge.strictSince = Math.min(judge.strictSince, clock.now());
    await closeDown(this.#world);
  }

  async abandon(): Promise<void> {
    for (const { locks } of this.#world.clients) void locks.close();
  }

  /** The clients with users, as far as they have live processes. */
  get #there(): RedLockProcess[] {
    return this.#inside.filter(({ process }) => !process.isDead);
  }

  async take(step: RedLockStep): Promise<Footprint> {
    const { actor = '', server } = step;
    const footprint = (this.#footprint = new Footprint());
    this.#story.step(step.name);
    this.#random.actor = actor;
    const before = this.#markOf(actor);
    await step.take(footprint);
    await this.#advance(STEP);
    this.#random.actor = '';
    const isSilent = this.chooser.isReduced && this.#markOf(actor) === before;
    if (server !== undefined) footprint[isSilent ? 'reads' : 'writes'](actor);
    if (!isSilent) this.#servers.clientActs(actor);
    if (server !== undefined && isSilent) this.#servers.wasRead(server, actor);
    else if (server !== undefined) this.#servers.differs(server);
    if (step.isOfAll) this.#servers.timePasses();
    return step.isOfAll ? Footprint.ofAll : footprint;
  }

  #markOf(actor: string): string {
    const client = this.#world.clients.find(({ name }) => name === actor);
    return client ? this.#stirs.mark(client.networks, this.#acts.names) : '';
  }

  /**
   * What only makes a connection arrives at once: until it is made, the client sends nothing on it, and what it will send may be read
   * late. So does the news for the server that a connection without subscriptions is given up, as it does nothing about it.
   */
  async #advance(ms: number): Promise<void> {
    await this.#world.clock.advance(ms);
    if (this.chooser instanceof DepthFirst && !this.chooser.isReduced) return;
    for (let way = this.#steps.connecting; way; way = this.#steps.connecting) {
      way.arrive();
      await this.#world.clock.advance(STEP);
    }
  }

  async #outlive(repair?: () => void): Promise<void> {
    this.#network.isFlowing = true;
    await this.#world.time.pass(WATCHDOG + 2_000);
    repair?.();
    if (repair) await this.#world.time.pass(MOMENT);
    this.#network.isFlowing = false;
  }

  async idle(): Promise<boolean> {
    const { clock, judge, history, open } = this.#world;
    const areDone = () => this.#there.length === 0 && open.every(({ isReady }) => isReady);
    const isOver = () => this.#steps.due.length > 0 || areDone(); // what a user has left may still be sent
    if (isOver()) return false;
    this.#servers.timePasses();
    for (const latest = clock.now() + LONGEST; !isOver(); judge.check()) {
      const { nextAt = Infinity } = clock;
      if (nextAt > latest) history.accuse('the users wait for nothing');
      else await this.#advance(nextAt + TOGETHER - clock.now());
    }
    return true;
  }

  #listen(): void {
    const { history } = this.#world;
    const note = history.note.bind(history);
    history.note = (kind, details = '') => {
      if (!this.isAccused) this.#story.news(`${kind} ${details}`);
      if (kind === 'VIOLATION') this.isAccused = true;
      note(kind, details);
      this.#stirs.noted();
      if (this.#outcome.note(kind, details)) this.#footprint.writes('holds');
    };
  }
}
