import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { CommandLog } from './command-log.js';
import type { Findings } from './findings.js';

/** A lease that code acts by. */
export interface Visitor {
  readonly lease: RedisLease;
  readonly client: string;
  readonly mode: 'alone' | 'write' | 'read' | 'permits';
  /** When it was granted, by `performance.now()`. */
  readonly since: number;
}

/** Watches over the holders of leases of one key. */
export interface LockJudge {
  readonly key: string;
  enter(visitor: Visitor): void;
  /** Call it just before the release. */
  leave(visitor: Visitor): void;
}

/** Finds two holders of one lock: a lease that claims to be held, at the moment of use, while another one does so too. */
export class ExclusionJudge implements LockJudge {
  readonly #inside = new Set<Visitor>();
  #highestToken = 0n;

  constructor(
    readonly key: string,
    private readonly findings: Findings,
    private readonly log: CommandLog,
  ) {}

  enter(visitor: Visitor): void {
    this.#inside.add(visitor);
    this.#look();
  }

  leave(visitor: Visitor): void {
    this.#look();
    this.#inside.delete(visitor);
  }

  /** Like a store that rejects tokens that are not above the last one. */
  present(visitor: Visitor, token: bigint): void {
    if (!visitor.lease.isHeld) return;
    if (token <= this.#highestToken)
      this.findings.add('token', `${this.key}: ${token} is valid after ${this.#highestToken}`, () =>
        this.#story([visitor]),
      );
    this.#highestToken = token;
  }

  #look(): void {
    const valid = [...this.#inside].filter(({ lease }) => lease.isHeld);
    if (valid.length < 2 || valid.every(({ mode }) => mode === 'read')) return;
    const holders = valid.map((visitor) => nameOf(visitor)).join(' and ');
    this.findings.add('overlap', `${this.key}: ${holders}`, () => this.#story(valid));
    for (const visitor of valid.slice(0, -1)) this.#inside.delete(visitor); // reported once
  }

  #story(visitors: readonly Visitor[]): string[] {
    return storyOf(this.key, visitors, this.findings, this.log);
  }
}

/** Finds it when more permits are held than exist. */
export class PermitsJudge implements LockJudge {
  readonly #inside = new Set<Visitor>();

  constructor(
    readonly key: string,
    private readonly permits: number,
    private readonly findings: Findings,
    private readonly log: CommandLog,
  ) {}

  enter(visitor: Visitor): void {
    this.#inside.add(visitor);
    this.#look();
  }

  leave(visitor: Visitor): void {
    this.#look();
    this.#inside.delete(visitor);
  }

  #look(): void {
    const valid = [...this.#inside].filter(({ lease }) => lease.isHeld);
    const taken = valid.reduce((sum, { lease }) => sum + lease.permitIds.length, 0);
    if (taken <= this.permits) return;
    const text = `${this.key}: ${taken} permits of ${this.permits}: ${valid.map(nameOf).join(' and ')}`;
    this.findings.add('permits', text, () => storyOf(this.key, valid, this.findings, this.log));
    const [eldest] = valid;
    this.#inside.delete(eldest!); // reported once
  }
}

function nameOf({ lease, client, since, mode }: Visitor): string {
  const age = Math.round(performance.now() - since);
  return `${lease.holder} of ${client} (${mode}), for ${age} ms, ${Math.round(lease.remaining())} ms left`;
}

function storyOf(
  key: string,
  visitors: readonly Visitor[],
  findings: Findings,
  log: CommandLog,
): string[] {
  const zero = performance.now() - findings.now;
  const holders = visitors.map(({ lease }) => lease.permitIds[0]?.slice(0, 24) ?? lease.holder);
  return log.story(key, zero, holders);
}
