import { CreateMode } from '../../../../lib/zookeeper/connection/zookeeper-connection.js';
import type { SimulatedClient } from '../../client.js';
import { Dice } from '../../dice.js';
import { closeDown, Company } from '../../run-schedule.js';
import { World } from '../../world.js';
import { Acts } from '../acts.js';
import { carryOut, TOGETHER, type WorldRun } from '../carry-out.js';
import type { Chooser } from '../choosers.js';
import type { RunReport } from '../exploration.js';
import { Likeness } from '../likeness.js';
import { FAULTS, Troubles } from './faults.js';
import { Footprint } from '../footprint.js';
import { numberedIds } from './ids.js';
import { Network } from './network.js';
import type { Scenario } from './scenarios.js';
import { Outcome } from './outcome.js';
import { type Step, Steps } from './steps.js';
import { Story } from '../story.js';
import { User } from './users.js';

/** Timeout of all sessions, in ms. */
const SESSION = 2_000;
/** Each step takes a little time, so that it can be seen which one came first, in ms. */
const STEP = 0.01;
/** The longest that users wait for each other when nothing else happens, in ms: the judge does not wait so long. */
const LONGEST = 10_000;
/** Far more than any run has where no client asks again and again. */
const MOST_STEPS = 400;

/** Carries out one run of a scenario, step by step, as the chooser says. */
export function play(scenario: Scenario, chooser: Chooser): Promise<RunReport> {
  return carryOut(new Run(scenario, chooser), chooser, MOST_STEPS);
}

class Run implements WorldRun<Step> {
  isAccused = false;
  readonly #outcome = new Outcome();
  readonly #world: World;
  readonly #story: Story;
  readonly #network: Network;
  readonly #acts = new Acts<User>();
  readonly #company: Company;
  readonly #troubles: readonly Troubles[];
  readonly #likeness: Likeness<SimulatedClient>;
  readonly #steps: Steps;

  constructor(
    private readonly scenario: Scenario,
    chooser: Chooser,
  ) {
    const dice = Object.assign(new Dice(1), { random: () => 0.5, id: numberedIds(scenario.ids) });
    const world = (this.#world = new World({ dice, isAsking: false, containerInterval: 60_000 }));
    const { clock } = world;
    const { isReduced } = chooser;
    const story = (this.#story = new Story(() => clock.now()));
    const network = (this.#network = new Network(world.server, clock, isReduced));
    const company = (this.#company = new Company(world));
    const likeness = (this.#likeness = new Likeness(world.clients));
    this.#listen();
    network.isFlowing = true;
    const { clients, faults, kinds = FAULTS } = scenario;
    const troubles = (this.#troubles = Array.from({ length: clients }, (_, index) => {
      const wire = network.addWire(`client ${index}`);
      const client = world.addClient(SESSION, wire);
      client.connection.onStateChange(() => network.footprint.writes(client.name));
      wire.onServed = () => likeness.begins(client);
      return new Troubles(world, client, wire, kinds, isReduced);
    }));
    const acts = this.#acts;
    const cast = { world, network, acts, company, troubles, likeness, story, faults, kinds };
    this.#steps = new Steps({ ...cast, isReduced });
  }

  get report(): Omit<RunReport, 'isComplete' | 'steps'> {
    const lines = [...this.#outcome.lines, ...this.#outcome.views];
    const named = this.#likeness.renamed(lines.join('\n')).split('\n');
    const outcome = named.splice(0, this.#outcome.lines.length).join('\n');
    const views = [outcome, ...named.sort()].join('\n');
    return { outcome, views, story: this.#story };
  }

  get possible(): Steps {
    return this.#steps;
  }

  check(): void {
    const { observers, judge } = this.#world;
    for (const observer of observers) observer.check();
    judge.check();
  }

  accuse(what: string): void {
    this.#world.history.accuse(what);
  }

  async begin(): Promise<void> {
    const world = this.#world;
    await world.clock.advance(10);
    this.#network.isFlowing = false;
    for (const directory of this.scenario.there) this.#make(directory);
    const acts = this.#acts;
    this.scenario.begin({
      world,
      clients: world.clients.length,
      user: (number, kind, life) => {
        const client = world.clients[number % world.clients.length]!;
        const letter = String.fromCharCode(97 + this.#company.clients.length);
        const user = new User(`user ${letter}`, kind, world, client, acts);
        this.#likeness.add(user);
        this.#company.add(client, life(user));
      },
    });
    await world.clock.advance(STEP);
  }

  async end(): Promise<void> {
    const world = this.#world;
    this.#story.news('from now on all works again');
    for (const trouble of this.#troubles) trouble.end();
    for (const wire of this.#network.wires) {
      wire.share = 1;
      wire.forgetLeft();
    }
    this.#network.isFlowing = true;
    world.judge.calmSince = world.clock.now();
    const isFree = [...world.queues.values()].every(({ first }) => first === undefined);
    if (!isFree) await world.pass(500); // what is left must go while its client is there
    await closeDown(world);
  }

  async abandon(): Promise<void> {
    for (const { locks } of this.#world.clients) void locks.close();
  }

  async take(step: Step): Promise<Footprint> {
    const footprint = (this.#network.footprint = new Footprint());
    this.#story.step(step.name);
    await step.take();
    await this.#world.clock.advance(STEP);
    return step.isLong ? Footprint.ofAll : footprint;
  }

  async idle(): Promise<boolean> {
    const { clock, history } = this.#world;
    const isOver = () => this.#company.isOver() || this.#steps.due.length > 0;
    if (isOver()) return false;
    for (const latest = clock.now() + LONGEST; !isOver(); this.check()) {
      const { nextAt = Infinity } = clock;
      if (nextAt > latest) history.accuse('the users wait for nothing');
      else await clock.advance(nextAt + TOGETHER - clock.now());
    }
    return true;
  }

  #make(path: string): void {
    const { tree } = this.#world.server;
    const mode = CreateMode.CONTAINER;
    tree.insert(path, { data: Buffer.alloc(0), mode, zxid: tree.nextZxid(), sessionId: '0' });
  }

  #listen(): void {
    const { history } = this.#world;
    const note = history.note.bind(history);
    history.note = (kind, details = '') => {
      if (!this.isAccused) this.#story.news(`${kind} ${details}`);
      if (kind === 'VIOLATION') this.isAccused = true;
      note(kind, details);
      if (this.#outcome.note(kind, details)) this.#network.footprint.writes('holds');
    };
  }
}
