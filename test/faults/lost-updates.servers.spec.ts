import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Forwarder } from '../support/proxies.js';
import { RedisServer } from '../support/redis-server.js';
import { byTier } from '../support/tier.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import type { SetWriterReport } from './programs/set-writer.js';
import { Program } from './support/program.js';
import {
  type Kind,
  KINDS,
  type SharedSets,
  setsOnRedis,
  setsOnZooKeeper,
} from './support/shared-sets.js';

const WRITERS = 5;
const SECTIONS = byTier({ quick: 0, standard: 150, long: 10_000 });
/** Sections between two faults. */
const BETWEEN = byTier({ quick: 0, standard: 30, long: 100 });
/** Longer than any lease and session here, in ms. */
const PAUSE = 3_000;
const FAULTS = ['pause', 'cut', 'pause', 'kill'] as const;

interface Stage {
  readonly server: { readonly host: string; readonly port: number; stop(): Promise<unknown> };
  open(): Promise<SharedSets>;
}

const onRedis = async (): Promise<Stage> => {
  const server = await RedisServer.start();
  return { server, open: async () => setsOnRedis(server.port) };
};
const onZooKeeper = async (): Promise<Stage> => {
  const server = await ZooKeeperServer.start();
  return { server, open: () => setsOnZooKeeper(server.connectString) };
};

class Cable extends Forwarder {
  override cut(): void {
    super.cut();
  }
}

/** Writers of shared sets, one of which is struck in its section now and then: after it has read, before it writes. */
class Nemesis {
  /** What became of the updates, as the writers know. */
  readonly told: Record<Kind, Record<'done' | 'refused' | 'unknown', string[]>>;
  readonly strikes: (typeof FAULTS)[number][] = [];
  sections = 0;
  #isOver = false;
  #untilNext = BETWEEN;
  #started = 0;
  readonly #lives: Promise<void>[];

  constructor(
    private readonly backend: string,
    private readonly cable: Cable,
    private readonly port: number,
  ) {
    const none = () => ({ done: [], refused: [], unknown: [] });
    this.told = { plain: none(), fenced: none(), guarded: none() };
    this.#lives = Array.from({ length: WRITERS }, () => this.#live());
  }

  async untilOver(): Promise<void> {
    await Promise.all(this.#lives);
  }

  /** One writer after the other, as they are killed. */
  async #live(): Promise<void> {
    while (!this.#isOver) {
      const args = [this.backend, `${this.cable.port}`, `${this.port}`, `w${(this.#started += 1)}`];
      const writer = new Program(new URL('./programs/set-writer.ts', import.meta.url), args);
      while (!this.#isOver) if ((await this.#section(writer)) === 'killed') break;
      await writer.stop();
    }
  }

  async #section(writer: Program): Promise<'killed' | void> {
    const { element, outcomes } = await writer.next<SetWriterReport>();
    if (!outcomes) return this.#inside(writer);
    this.sections += 1;
    for (const [i, kind] of KINDS.entries()) this.told[kind][outcomes[i]!].push(element);
    if (this.sections >= SECTIONS && this.strikes.length >= FAULTS.length) this.#isOver = true;
  }

  async #inside(writer: Program): Promise<'killed' | void> {
    if (this.#untilNext-- > 0) return writer.tell('write');
    this.#untilNext = BETWEEN;
    const fault = FAULTS[this.strikes.length % FAULTS.length]!;
    this.strikes.push(fault);
    if (fault === 'kill') return 'killed';
    if (fault === 'cut') this.cable.cut();
    else writer.freeze();
    writer.tell('write');
    if (fault === 'pause') {
      await delay(PAUSE);
      writer.thaw();
    }
  }
}

/**
 * Jepsen's workloads for the locks of etcd (https://jepsen.io/analyses/etcd-3.4.3): a set that is read and written back under a
 * lock loses updates, whatever the lock service; not so with a condition on the lock in the write itself.
 */
describe.each([
  ['redis', onRedis],
  ['zookeeper', onZooKeeper],
])(
  'Updates under a lock on %s, by processes that are paused, cut off and killed',
  (backend, start) => {
    it(
      'are lost if the write does not look at the lock, and never if it compares the token or is guarded',
      async () => {
        const stage = await start();
        const cable = await new Cable(stage.server).listen();
        const sets = await stage.open();
        const nemesis = new Nemesis(backend, cable, stage.server.port);
        await nemesis.untilOver();

        const there = await sets.all();
        const { told } = nemesis;
        const lost = (kind: Kind) => told[kind].done.filter((it) => !there[kind].includes(it));
        const wrong = (kind: Kind) => told[kind].refused.filter((it) => there[kind].includes(it));
        expect(new Set(nemesis.strikes).size).toBe(3);
        expect(told.guarded.refused.length).toBeGreaterThan(0); // else no write was late
        expect(lost('plain').length).toBeGreaterThan(0); // else nothing is proved
        expect({ fenced: lost('fenced'), guarded: lost('guarded') }).toEqual({
          fenced: [],
          guarded: [],
        });
        expect(wrong('guarded')).toEqual([]);
        await sets.close();
        await cable.stop();
        await stage.server.stop();
      },
      60_000 + 60 * SECTIONS,
    );
  },
);
