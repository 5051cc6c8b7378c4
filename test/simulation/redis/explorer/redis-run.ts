import * as scripts from '../../../../lib/redis/scripts/index.js';
import { Dice } from '../../dice.js';
import { carryOut, type WorldRun } from '../../explorer/carry-out.js';
import { type Chooser, DepthFirst } from '../../explorer/choosers.js';
import type { RunReport } from '../../explorer/exploration.js';
import { Footprint } from '../../explorer/footprint.js';
import { Likeness } from '../../explorer/likeness.js';
import { Story } from '../../explorer/story.js';
import { TOGETHER } from '../../explorer/carry-out.js';
import { Acts } from '../../explorer/acts.js';
import { corrupted, machine } from '../world/corrupted.js';
import type { ObservedLock } from '../world/observed-locks.js';
import type { RedisProcess } from '../world/redis-process.js';
import { closeDown } from '../world/redis-schedules.js';
import { RedisWorld } from '../world/redis-world.js';
import { drawFrom } from '../../seeded-ids.js';
import { ClientStirs } from './client-stirs.js';
import { comeLast } from './last-user.js';
import { RandomOfClients } from './random-of-clients.js';
import { REDIS_FAULTS, RedisTroubles } from './redis-faults.js';
import { RedisGuest } from './redis-guest.js';
import { RedisOutcome } from './redis-outcome.js';
import type { RedisScenario, RedisSize } from './redis-scenarios.js';
import { type RedisStep, RedisSteps } from './redis-steps.js';
import { SteppedNetwork } from './stepped-network.js';

/** Of all leases, in ms. */
const WATCHDOG = 20_000;
/** Each step takes a little time, so that it can be seen which one came first, in ms. */
const STEP = 0.001;
/** The longest that users wait for each other when nothing else happens, in ms. */
const LONGEST = 60_000;
/** Until what faults have left is over: leases without a holder, and what is known of waiters that have gone, in ms. */
const SETTLED = 4 * WATCHDOG;
/** Far more than any run has where no client asks again and again. */
const MOST_STEPS = 1_000;

/**
 * Carries out one run of a scenario, step by step, as the chooser says.
 *
 * @param corrupt what has become of a script
 */
export function playRedis(
  scenario: RedisScenario,
  size: RedisSize,
  chooser: Chooser,
  corrupt?: (source: string) => string,
): Promise<RunReport> {
  return carryOut(new Run(scenario, size, chooser, corrupt), chooser, MOST_STEPS);
}

class Run implements WorldRun<RedisStep> {
  isAccused = false;
  readonly #outcome = new RedisOutcome();
  readonly #world: RedisWorld;
  readonly #network: SteppedNetwork;
  readonly #stirs: ClientStirs;
  readonly #story: Story;
  readonly #acts = new Acts<RedisGuest>();
  readonly #troubles: RedisTroubles;
  readonly #likeness: Likeness<RedisProcess>;
  readonly #locks: readonly ObservedLock[];
  /** The clients of the users that are there. */
  readonly #inside: RedisProcess[] = [];
  readonly #random = new RandomOfClients();
  readonly #steps: RedisSteps;
  #footprint = new Footprint();
  #isOver = false;

  constructor(
    private readonly scenario: RedisScenario,
    private readonly size: RedisSize,
    private readonly chooser: Chooser,
    corrupt?: (source: string) => string,
  ) {
    drawFrom(() => this.#random.next());
    const world = (this.#world = new RedisWorld({
      dice: new Dice(1),
      machine: corrupt ? corrupted(corrupt) : machine,
      isAsking: false,
      rate: 1,
      lag: 0,
      isCluster: scenario.isOfCluster,
      way: () => this.#network.way(),
    }));
    this.#network = new SteppedNetwork(world.clock);
    this.#stirs = new ClientStirs(world.clock);
    this.#story = new Story(() => world.clock.now());
    this.#locks = [...new Set(scenario.locks.flatMap(({ parts }) => parts))];
    const key = this.#locks[0]!.name.redisKey;
    const outlive = () => this.#outlive();
    const kinds = (size.kinds ?? REDIS_FAULTS).filter((kind) => !scenario.except?.includes(kind));
    this.#troubles = new RedisTroubles(world, key, kinds, outlive);
    const likeness = (this.#likeness = new Likeness(world.clients));
    this.#steps = new RedisSteps({
      world,
      likeness,
      isReduced: chooser.isReduced,
      acts: this.#acts,
      troubles: this.#troubles,
      story: this.#story,
      faults: size.faults,
      there: () => this.#there,
    });
    this.#listen();
  }

  get report(): Omit<RunReport, 'isComplete' | 'steps'> {
    const lines = [...this.#outcome.lines, ...this.#outcome.views];
    const named = this.#likeness.renamed(lines.join('\n')).split('\n');
    const outcome = named.splice(0, this.#outcome.lines.length).join('\n');
    const views = [outcome, ...named.sort()].join('\n');
    return { outcome, views, story: this.#story };
  }

  get possible(): RedisSteps {
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
    const { clients: count, requests = count, faults, kinds } = this.size;
    for (const { server } of world.servers.ports)
      for (const { sha1, source } of Object.values(scripts)) server.learn(sha1, source);
    for (let i = 0; i < count; i++) {
      this.#random.actor = `client ${i}`;
      await world.addClient(WATCHDOG);
      this.#stirs.add([world.clients[i]!.network]);
    }
    if (this.scenario.prepare) await world.time.wait(this.scenario.prepare(world.clients[0]!));
    await world.clock.advance(Math.ceil(world.clock.now()) + 1.5 - world.clock.now());
    this.#network.isFlowing = false;
    world.judge.watch(this.#locks);
    if (faults === 0 || kinds?.join() === 'migrate') world.judge.strictSince = 0;
    for (let i = 0; i < requests; i++) {
      const client = world.clients[i % count]!;
      const name = `user ${String.fromCharCode(97 + i)}`;
      const { kindOf = () => name, prepare } = this.scenario;
      const kind = prepare ? name : kindOf(i); // the first client is special
      const guest = new RedisGuest(name, kind, client, world, this.#acts);
      this.#likeness.add(guest);
      this.#inside.push(client);
      this.scenario.life(i, guest).then(
        () => void this.#inside.splice(this.#inside.indexOf(client), 1),
        (error: Error) => world.judge.accuse(`the code of a user fails: ${error.stack}`),
      );
    }
    await world.clock.advance(STEP);
  }

  async end(): Promise<void> {
    const world = this.#world;
    this.#story.news('from now on all works again');
    this.#troubles.end();
    this.#network.isFlowing = true;
    await world.time.until(() => world.open.every(({ connection }) => connection.isReady), LONGEST);
    await world.time.until(() => this.#goOn(), LONGEST);
    if (this.size.faults > 0) await world.time.pass(SETTLED);
    world.judge.strictSince = Math.min(world.judge.strictSince, world.clock.now());
    this.#isOver = true;
    if (this.#maySomethingBeLeft) await comeLast(world, this.#locks, LONGEST);
    await closeDown(world, this.#locks);
  }

  async abandon(): Promise<void> {
    for (const { locks } of this.#world.clients) void locks.close();
  }

  /** The users of a run that was left before its end do all that they may. Returns whether they have gone. */
  #goOn(): boolean {
    for (const name of this.#acts.names) this.#acts.do(name);
    return this.#there.length === 0;
  }

  /**
   * A waiter of which the server has not heard any more stays in the queue until the next user comes. That one may not get a lock of
   * which a dead client keeps its part for ever.
   */
  get #maySomethingBeLeft(): boolean {
    if (this.scenario.except?.includes('kill')) return false;
    return this.size.faults > 1 || this.#world.clients.some(({ process }) => process.isDead);
  }

  /** The clients with users, as far as they have live processes. */
  get #there(): RedisProcess[] {
    return this.#inside.filter(({ process }) => !process.isDead);
  }

  async take(step: RedisStep): Promise<Footprint> {
    const footprint = (this.#footprint = new Footprint());
    this.#story.step(step.name);
    const { actor = '', isRead } = step;
    this.#random.actor = actor;
    const before = this.#markOf(actor);
    await step.take(footprint);
    await this.#advance(STEP);
    this.#random.actor = '';
    const isSilent = this.chooser.isReduced && this.#markOf(actor) === before;
    if (isRead) footprint[isSilent ? 'reads' : 'writes'](actor);
    this.#footprint = new Footprint(); // what comes at the end of the run does not belong to its last step
    return step.isOfAll ? Footprint.ofAll : footprint;
  }

  #markOf(actor: string): string {
    const client = this.#world.clients.find(({ name }) => name === actor);
    return client ? this.#stirs.mark([client.network], this.#acts.names) : '';
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

  async #outlive(): Promise<void> {
    this.#network.isFlowing = true;
    await this.#world.time.pass(WATCHDOG + 2_000);
    this.#network.isFlowing = false;
  }

  async idle(): Promise<boolean> {
    const { clock, judge, history } = this.#world;
    const isOver = () => this.#there.length === 0 || this.#steps.due.length > 0;
    if (isOver()) return false;
    for (const latest = clock.now() + LONGEST; !isOver(); judge.check()) {
      const { nextAt = Infinity } = clock;
      if (nextAt > latest) history.accuse('the users wait for nothing');
      else await this.#advance(nextAt + TOGETHER - clock.now());
    }
    return true;
  }

  #listen(): void {
    const { history, servers } = this.#world;
    const note = history.note.bind(history);
    history.note = (kind, details = '') => {
      if (!this.isAccused) this.#story.news(`${kind} ${details}`);
      if (kind === 'VIOLATION') this.isAccused = true;
      note(kind, details);
      this.#stirs.noted();
      if (!this.#isOver && this.#outcome.note(kind, details)) this.#footprint.writes('holds');
    };
    const keys = new Set(this.#locks.map(({ name }) => name.redisKey));
    const { onChange } = servers;
    servers.onChange = (changed) => {
      this.#footprint.writes('keys');
      if ([...changed].some((key) => keys.has(key))) this.#footprint.writes('holds');
      onChange(changed);
    };
    for (const { server } of servers.ports) {
      const { channels } = server;
      const [publish, count] = [channels.publish.bind(channels), channels.count.bind(channels)];
      channels.publish = (...message) => {
        this.#footprint.writes('channels');
        return publish(...message);
      };
      channels.count = (...channel) => {
        this.#footprint.reads('channels');
        return count(...channel);
      };
    }
  }
}
