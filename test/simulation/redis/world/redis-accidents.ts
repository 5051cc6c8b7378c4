import * as scripts from '../../../../lib/redis/scripts/index.js';
import type { Dice } from '../../dice.js';
import { Timing } from '../../timing.js';
import type { Fate } from '../../../../lib/testing/redis/network/link.js';
import type { Plan } from './plan.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisWorld } from './redis-world.js';

/** Which accidents there may be beside those of the network and of the clients. */
export interface AccidentOptions {
  /** Failovers that may forget what was answered, and operators that take locks away. */
  readonly mayForget: boolean;
  /** Takes a lock from its holders, as an operator. */
  readonly takeAway: (client: RedisProcess, dice: Dice) => void;
  readonly plan: Plan;
}

/** Everything that can go wrong, at random times, until it is ended. */
export class RedisAccidents {
  #isOver = false;
  readonly #repairs = new Set<() => void>();

  constructor(
    private readonly world: RedisWorld,
    private readonly dice: Dice,
    private readonly options: AccidentOptions,
  ) {}

  /**
   * Causes `count` accidents within `duration`, and some at single commands.
   *
   * @param risk of each command that its connection breaks while it is under way, in [0, 1)
   */
  begin(count: number, duration: number, risk: number): void {
    for (const client of this.world.clients) {
      const dice = this.dice.fork(`cuts of ${client.name}`);
      client.network.onSent = (words) =>
        this.#sent(client, nameOf(words), (command) => dice.chance(risk * weightOf(command)));
    }
    for (let number = 1; number <= count; number++) {
      const name = `accident ${number}`;
      const dice = this.dice.fork(name);
      const happen = () => this.#happen(name, dice);
      if (this.options.plan.has(name)) this.world.clock.setTimer(happen, dice.time(duration));
    }
  }

  /** Everything works again. */
  end(): void {
    this.#isOver = true;
    for (const repair of this.#repairs) repair();
  }

  #sent(client: RedisProcess, command: string, isCut: (command: string) => boolean): void {
    const { world } = this;
    if (this.#isOver) return;
    const now = world.clock.now();
    const { plan } = this.options;
    const name = plan.cutAt(client.name, command, now, () => isCut(command));
    if (name === undefined) return;
    plan.happens(name, now);
    world.history.note('cut at a command', client.name);
    const dice = this.dice.fork(name);
    const late = dice.time(dice.pick([50, 500, 2_000, client.watchdogTimeout]));
    const { trouble } = world.replicated!.port.server;
    const isRefused = command === 'lock-renew' && trouble === 'none' && dice.chance(0.5);
    // Then a copy arrives late, and until shortly before that all that is sent again is refused.
    if (isRefused) this.#refuse(late * dice.between(0.9, 1), dice.pick(['full', 'busy']));
    const fates: readonly Fate[] = isRefused ? [{ late }] : ['processed', { late }];
    const cut = () => this.#isOver || client.cut(() => dice.pick(fates));
    const delay = dice.pick([0, dice.time(2 * Timing.latency)]);
    world.clock.setTimer(cut, isRefused ? 0 : delay);
  }

  #happen(name: string, dice: Dice): void {
    if (this.#isOver) return;
    const { world } = this;
    const { open } = world;
    if (open.length === 0) return;
    this.options.plan.happens(name, world.clock.now());
    const client = dice.pick(open);
    const period =
      client.watchdogTimeout * dice.pick([0.05, 0.3, 0.7, 1.1, 2]) * dice.between(0.8, 1.2);
    const kinds = {
      cut: () => client.cut(() => fate(dice, period)),
      partition: () => this.#for(period, client.partition()),
      'partition of all': () => {
        for (const one of open) this.#for(period, one.partition());
      },
      'slow network': () =>
        this.#for(period, client.slowDown(dice.pick([50, 500, client.watchdogTimeout / 2]))),
      'frozen process': () => {
        const thaw = client.freeze();
        this.#for(period, () => thaw(dice.pick(['timer', 'message'])));
      },
      'killed process': () => void (open.length > 1 && client.kill()),
      'closed client': () => void (open.length > 1 && client.process.isRunning && client.close()),
      'frozen server': () => this.#server(period, () => world.replicated!.port.stall()),
      'server without memory': () => this.#refuse(period, 'full'),
      'busy server': () => this.#refuse(period, 'busy'),
      'restarted server': () => this.#restart(dice.pick([0, period])),
      ...(this.options.mayForget && this.#forgetful(client, dice)),
    };
    const kind = dice.pick([
      ...(Object.keys(kinds) as (keyof typeof kinds)[]),
      ...(this.options.mayForget ? (['lock taken away', 'lock taken away'] as const) : []),
      ...(['cut', 'cut', 'partition', 'slow network', 'frozen process'] as const),
    ]);
    world.history.note(kind, `${client.name} ${period.toFixed(0)}`);
    kinds[kind]!();
  }

  #forgetful(client: RedisProcess, dice: Dice) {
    const { world } = this;
    const failOver = (isAbrupt: boolean) => {
      for (const it of world.clients) it.disturb();
      world.replicated!.failOver(isAbrupt);
      world.judge.lostData();
    };
    return {
      failover: () => failOver(true),
      demotion: () => failOver(false),
      'lock taken away': () => this.options.takeAway(client, dice),
    };
  }

  #refuse(period: number, trouble: 'full' | 'busy'): void {
    const { server } = this.world.replicated!.port;
    this.#server(period, () => {
      server.trouble = trouble;
      return () => (server.trouble = 'none');
    });
  }

  /** Its data are safe. */
  #restart(period: number): void {
    const { port } = this.world.replicated!;
    this.#server(period, () => {
      port.isListening = false;
      port.hangUpAll();
      return () => {
        port.server.restart(true);
        port.isListening = true;
      };
    });
  }

  /** Something is the matter with the server. */
  #server(period: number, begin: () => () => void): void {
    const repairs = [begin(), ...this.world.clients.map((it) => it.hinder())];
    this.#for(period, () => {
      for (const repair of repairs) repair();
    });
  }

  #for(period: number, repair: () => void): void {
    const once = () => {
      if (this.#repairs.delete(once)) repair();
    };
    this.#repairs.add(once);
    this.world.clock.setTimer(once, period);
  }
}

function fate(dice: Dice, period: number): Fate {
  return dice.pick(['lost', 'processed', { late: period }, { late: period / 10 }]);
}

const SCRIPTS = new Map(Object.values(scripts).map(({ sha1, name }) => [sha1, name]));

/** Renewals are many, and acquires that are granted few. */
const weightOf = (command: string) => (command.endsWith('-acquire') ? 3 : 1);

/** Name of the command, or of the script that it calls. */
function nameOf([command, script]: readonly string[]): string {
  return SCRIPTS.get(script ?? '') ?? command!;
}
