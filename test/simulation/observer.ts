import type { LinkListener } from '../../lib/zookeeper/connection/transport.js';
import type { World } from './world.js';

/** What happened in a simulated world, and the first violation. */
export class History {
  readonly #lines: string[] = [];
  readonly #counts = new Map<string, number>();
  #accusation?: string;

  constructor(private readonly now: () => number) {}

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  note(kind: string, details = ''): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    this.#lines.push(`${this.now().toFixed(1).padStart(9)}  ${kind} ${details}`);
  }

  /** A promise is broken; the first accusation counts. */
  accuse(what: string): void {
    this.#accusation ??= what;
    this.note('VIOLATION', what);
  }

  /** @throws the accusation, with all that led to it */
  throwIfAccused(): void {
    if (this.#accusation === undefined) return;
    throw new Error(`${this.#accusation}\n\nWhat happened (ms):\n${this.#lines.join('\n')}\n`);
  }
}

/** Sees what happens in a world, and writes its history. */
export abstract class Observer {
  /** Number of nodes that it keeps forever. */
  readonly lasting: number = 0;

  constructor(protected readonly world: World) {}

  /** Checks whether the promises are kept. Call it after every event. */
  check(): void {}

  /** Removes its watches. */
  stop(): void {}

  protected get now(): number {
    return this.world.clock.now();
  }

  protected note(kind: string, details?: string): void {
    this.world.history.note(kind, details);
  }

  accuse(what: string): void {
    this.world.history.accuse(what);
  }
}

/** For the watches that an observer sets on the tree of the server itself. */
export function watcher(onWatch: () => void): LinkListener {
  const ignore = () => {};
  return { onConnected: ignore, onDisconnected: ignore, onExpired: ignore, onWatch };
}
