import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import type { SimulatedClient } from '../client.js';
import { Dice } from '../dice.js';
import { closeDown, Company } from '../run-schedule.js';
import { Timing } from '../timing.js';
import { World } from '../world.js';
import { type Chooser, COVERED, DONE } from './choosers.js';
import { type Fault, FAULTS, type Step, Troubles } from './faults.js';
import { Footprint } from './footprint.js';
import { numberIds } from './ids.js';
import { Network, type Wire } from './network.js';
import { Acts, User } from './users.js';

/** A small world, in which every order of steps is explored. */
export interface Scenario {
  readonly clients: number;
  /** How many faults a run may have. */
  readonly faults: number;
  /** Directories that are there already. */
  readonly there?: readonly string[];
  /** Default: all. */
  readonly kinds?: readonly Fault[] | undefined;
  /** The order of nodes with one number. Default: that of their creation. */
  readonly ids?: 'rising' | 'falling';
  /** Creates the locks, and starts the users. */
  begin(stage: Stage): void;
}

/** Where the users of a scenario appear. */
export interface Stage {
  readonly world: World;
  /** Starts a user of that client. */
  user(client: number, life: (user: User) => Promise<void>): void;
}

export type { Fault };

export interface RunReport {
  /** Whether it came to its end; otherwise the same run was explored in another order. */
  readonly isComplete: boolean;
  readonly steps: readonly string[];
  readonly accusation?: string;
  /** What every step did, and what came of it. */
  readonly story: readonly string[];
}

/** Timeout of all sessions, in ms. */
const SESSION = 2_000;
/** Each step takes a little time, so that it can be seen which one came first, in ms. */
const STEP = 0.01;
/** The longest that users wait for each other when nothing else happens, in ms: the judge does not wait so long. */
const LONGEST = 10_000;

/** Far more than any run has where no client asks again and again. */
const MOST_STEPS = 200;

/** In the story: what follows is not chosen. */
export const AFTERWARDS = 'afterwards all works again';

/** What the judge compares with the nodes. */
const OF_HOLDS: ReadonlySet<string> = new Set(['granted', 'released', 'lost', 'lost on arrival']);

/** Carries out one run of a scenario, step by step, as the chooser says. */
export async function explore(scenario: Scenario, chooser: Chooser): Promise<RunReport> {
  numberIds(scenario.ids ?? 'rising');
  const run = new Run(scenario);
  try {
    await run.connect();
    const isComplete = await run.play(chooser);
    await (isComplete ? run.end() : run.abandon());
    return { isComplete, steps: run.steps, story: run.story };
  } catch (error) {
    const [accusation = ''] = (error as Error).message.split('\n');
    await run.abandon();
    if (!run.isAccused) throw error;
    return { isComplete: true, steps: run.steps, story: run.story, accusation };
  }
}

class Run {
  readonly steps: string[] = [];
  readonly story: string[] = [];
  isAccused = false;
  readonly #world: World;
  readonly #network: Network;
  readonly #acts = new Acts();
  readonly #company: Company;
  readonly #wires: Wire[] = [];
  readonly #troubles: Troubles[] = [];
  readonly #outlived = new Set<SimulatedClient>();
  #faultsLeft: number;

  constructor(private readonly scenario: Scenario) {
    this.#faultsLeft = scenario.faults;
    const dice = Object.assign(new Dice(1), { random: () => 0.5 });
    const world = (this.#world = new World({ dice, isAsking: false, containerInterval: 60_000 }));
    this.#network = new Network(world.server, world.clock);
    this.#company = new Company(world);
    this.#listen();
  }

  /** All clients connect, and all users are there. */
  async connect(): Promise<void> {
    const { clients: count, kinds = FAULTS, there = [], begin } = this.scenario;
    const world = this.#world;
    this.#network.isFlowing = true;
    for (let index = 0; index < count; index++) {
      const wire = this.#network.addWire(`client ${index}`);
      const client = world.addClient(SESSION, wire);
      this.#wires.push(wire);
      this.#troubles.push(new Troubles(world, client, wire, kinds));
    }
    await world.clock.advance(10);
    this.#network.isFlowing = false;
    const { tree } = world.server;
    for (const path of there)
      tree.insert(path, {
        data: Buffer.alloc(0),
        mode: CreateMode.CONTAINER,
        zxid: tree.nextZxid(),
        sessionId: '0',
      });
    const acts = this.#acts;
    begin({
      world,
      user: (index, life) => {
        const client = world.clients[index]!;
        const letter = String.fromCharCode(97 + this.#company.clients.length);
        const user = new User(`user ${letter}`, world, client, acts);
        this.#company.add(client, life(user));
      },
    });
    await world.clock.advance(STEP);
  }

  /** Resolves to false if the rest was explored in another order. */
  async play(chooser: Chooser): Promise<boolean> {
    for (;;) {
      const { usual, optional } = this.#possible();
      if (usual.length === 0) return true;
      const faults = this.#faults();
      const possible = [...usual, ...optional, ...faults];
      const names = possible.map((step) => step.name);
      const name = chooser.choose(names, faults.length);
      if (name === DONE) return true;
      if (name === COVERED) return false;
      if (this.steps.length === MOST_STEPS) this.#world.history.accuse('the steps come to no end');
      const step = possible.find((one) => one.name === name)!;
      const footprint = await this.#take(step);
      const { isRepeating } = chooser;
      if (!isRepeating) this.#world.judge.check();
      chooser.took((await this.#idle()) ? Footprint.ofAll : footprint);
    }
  }

  /** All faults end, what is under way arrives, and nothing is left. */
  async end(): Promise<void> {
    const world = this.#world;
    this.story.push(AFTERWARDS);
    for (const trouble of this.#troubles) trouble.end();
    for (const wire of this.#wires) {
      wire.share = 1;
      wire.forgetLeft();
    }
    this.#network.isFlowing = true;
    world.judge.calmSince = world.clock.now();
    const isFree = [...world.queues.values()].every(({ first }) => first === undefined);
    if (!isFree) await world.pass(500); // what is left must go while its client is there
    await closeDown(world);
  }

  /** What lasts for the process is not to keep this world. */
  async abandon(): Promise<void> {
    for (const { locks } of this.#world.clients) void locks.close();
  }

  async #take(step: Step): Promise<Footprint> {
    this.steps.push(step.name);
    const footprint = (this.#network.footprint = new Footprint());
    this.story.push(step.name);
    await step.take();
    await this.#world.clock.advance(STEP);
    return step.isLong ? Footprint.ofAll : footprint;
  }

  #possible(): { usual: Step[]; optional: Step[] } {
    const usual: Step[] = [];
    const optional: Step[] = [];
    for (const wire of this.#wires)
      for (const link of wire.ready) {
        const step = this.#serve(wire, link);
        (link.isOpen ? usual : optional).push(step);
      }
    for (const name of this.#acts.names) usual.push({ name, take: () => this.#act(name) });
    for (const [index, trouble] of this.#troubles.entries()) {
      const client = this.#world.clients[index]!;
      for (const { name, take } of trouble.repairs)
        usual.push({ name, take: () => this.#touching(client, take) });
      if (trouble.isLasting && !this.#outlived.has(client)) optional.push(this.#outlive(client));
    }
    const later = optional.filter(({ isLong }) => isLong);
    return usual.length > 0 || this.#company.isOver()
      ? { usual, optional }
      : { usual: later, optional };
  }

  #serve(wire: Wire, link: Wire['links'][number]): Step {
    const of = link.isOpen ? wire.client : `${wire.client}, by its old connection,`;
    return {
      name: `${of} is served`,
      take: () => {
        this.story[this.story.length - 1] = `${of} is served: ${link.next!.what}`;
        link.serve();
      },
    };
  }

  #touching(client: SimulatedClient, take: Step['take']): void | Promise<void> {
    this.#network.footprint.writes(client.name);
    return take();
  }

  #act(name: string): void {
    this.#network.footprint.writes(this.#acts.clientOf(name).name);
    this.#acts.do(name);
  }

  #faults(): Step[] {
    if (this.#faultsLeft === 0) return [];
    return this.#troubles.flatMap(({ faults }, index) =>
      faults.map(({ name, take }) => ({
        name,
        take: () => {
          this.#faultsLeft -= 1;
          this.#network.footprint.writes('faults');
          return this.#touching(this.#world.clients[index]!, take);
        },
      })),
    );
  }

  /** Everything else goes on meanwhile. */
  #outlive(client: SimulatedClient): Step {
    return {
      isLong: true,
      name: `${client.name}: time passes until its session is over`,
      take: async () => {
        this.#outlived.add(client);
        this.#network.isFlowing = true;
        await this.#world.pass(SESSION + 2 * Timing.tick);
        this.#network.isFlowing = false;
      },
    };
  }

  /** Time passes until something is possible, or all is over. Resolves to whether it did. */
  async #idle(): Promise<boolean> {
    const { clock, judge, history } = this.#world;
    const isOver = () => this.#company.isOver() || this.#possible().usual.length > 0;
    if (isOver()) return false;
    this.#network.footprint = new Footprint();
    for (const latest = clock.now() + LONGEST; !isOver(); judge.check()) {
      const { nextAt = Infinity } = clock;
      if (nextAt > latest) history.accuse('the users wait for nothing');
      else await clock.advance(nextAt - clock.now());
    }
    return true;
  }

  #listen(): void {
    const { history } = this.#world;
    const note = history.note.bind(history);
    history.note = (kind, details) => {
      if (OF_HOLDS.has(kind)) this.#network.footprint.writes('holds');
      if (!this.isAccused) this.story.push(`  ${kind} ${details}`);
      if (kind === 'VIOLATION') this.isAccused = true;
      note(kind, details);
    };
  }
}
