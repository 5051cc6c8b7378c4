import type { Participant } from '../../../lib/core/election/election-backend.js';

type Word = string | number;

/** Sends a command to an actor of a peer, and resolves to its answer. */
export type Ask = (...words: Word[]) => Promise<string>;

/** One that executes its commands one after the other: a thread in Java and Python, a chain of promises in Node. */
abstract class CommandedActor {
  constructor(protected readonly ask: Ask) {}

  protected async does(...words: Word[]): Promise<void> {
    await this.ask(...words);
  }

  protected async is(...words: Word[]): Promise<boolean> {
    return ['true', 'granted', 'revoked', 'leader', 'open'].includes(await this.ask(...words));
  }

  protected async number(...words: Word[]): Promise<number> {
    return Number(await this.ask(...words));
  }

  protected async list(...words: Word[]): Promise<string[]> {
    return (await this.ask(...words)).split(' ').filter(Boolean);
  }
}

/** A user of one object, which all of its commands are about. */
abstract class ObjectActor extends CommandedActor {
  constructor(specification: string, tell: Ask) {
    super((command = '', ...words) => tell(command, specification, ...words));
  }
}

/** How an actor acquires. */
export interface AcquireOptions {
  /** In ms, or forever. */
  readonly wait?: number | 'forever';
  /** Default 1. */
  readonly permits?: number;
  /** On Redis, in ms. Default: until it is released, renewed meanwhile; without expiry for the permits of Java. */
  readonly lease?: number;
}

const word = (wait: number | 'forever') => (wait === 'forever' ? -1 : wait);

/**
 * An owner of locks, or a member of a fleet on any server.
 *
 * Locks are named by recipe and path: `mutex:/a`, `read:/a`, `write:/a`, `semaphore#3:/a`, `semaphore#/n:/a` (as many permits
 * as the shared count at `/n` has), `semaphoreMutex:/a`, and `mutex:/a+write:/b` for a multi-lock.
 */
export class Actor extends CommandedActor {
  /** Whether it was granted within the wait, 20 s unless it is given. */
  readonly acquire = (lock: string, { wait = 20_000, permits = 1 }: AcquireOptions = {}) =>
    this.is('acquire', lock, word(wait), permits);
  /** Releases the most recent acquire of that lock. */
  readonly release = (lock: string) => this.does('release', lock);
  /** Paths of the nodes that represent the lock, the holders first. */
  readonly participants = (lock: string) => this.list('participants', lock);
  /** Adds a listener for revocations: in Java before an acquire, in Node to a held lease. */
  readonly makeRevocable = (lock: string) => this.does('makeRevocable', lock);
  /** Waits for the next unreported revocation of the lock; false when none arrives within `wait` ms. */
  readonly revoked = (lock: string, wait = 10_000) => this.is('revoked', lock, wait);
  /** Asks the holder of that node to release. */
  readonly revoke = (participant: string) => this.does('revoke', participant);
  /** Follows the shared count at that path, created with that number if there is none yet. */
  readonly startCount = (path: string, seed: number) => this.does('startCount', path, seed);
  /** Sets a shared count that its process follows. */
  readonly setCount = (path: string, value: number) => this.does('setCount', path, value);
  /** Id of the session of its process, in hexadecimal. */
  readonly session = () => this.ask('session');
  /**
   * Acquires the lock, holds it for 0 to 5 ms, releases it, again and again until another actor of its process gets the command
   * `rest`. It reports to the observer on that port under that name. Resolves to how often the library failed.
   */
  readonly work = (lock: string, port: number, name: string) =>
    this.number('work', lock, port, name);
  /** Ends the work of all actors of its process. */
  readonly rest = () => this.does('rest');
}

/** `barrier:/a`, or a member of a double barrier, `doubleBarrier#3#member:/a` for three. */
export class BarrierActor extends ObjectActor {
  readonly set = () => this.does('set');
  readonly remove = () => this.does('remove');
  /** Whether it was open within that many ms. */
  readonly wait = (wait = 20_000) => this.is('wait', wait);
  /** Whether all had entered within that many ms. */
  readonly enter = (wait = 20_000) => this.is('enter', wait);
  /** Whether all had left within that many ms. */
  readonly leave = (wait = 20_000) => this.is('leave', wait);
}

/** A candidate: `latch#id:/a` or `selector#id:/a`; no `id`: Curator's default, none. */
export class ElectionActor extends ObjectActor {
  readonly start = () => this.does('start');
  /** @param mode of a latch */
  readonly close = (mode: 'SILENT' | 'NOTIFY_LEADER' = 'SILENT') => this.does('close', mode);
  /** Whether it led within that many ms: a latch now, a selector in a term that was not reported yet. */
  readonly leads = (wait = 20_000) => this.is('awaitLeadership', wait);
  readonly hasLeadership = () => this.is('hasLeadership');
  /** Id of the leader, as this candidate sees it; empty when there is none. */
  readonly leader = () => this.ask('leader');
  /** The events that the listener of a latch received: `isLeader`, `notLeader`. */
  readonly events = () => this.list('events');
  /** Ends the term of a selector regularly. */
  readonly yield = () => this.does('yield');
  /** Ends the term of a selector by an interrupt. */
  readonly interrupt = () => this.does('interrupt');
  /** Requeues a selector; false when it is queued already. */
  readonly requeue = () => this.is('requeue');
  /**
   * Starts a latch that, while it leads, sends a claim every few ms, and reports to the observer on that port under that name.
   * Resolves when another actor has closed the latch.
   */
  readonly stand = (port: number, name: string) => this.does('stand', port, name);

  /** All of them as this candidate sees them, the leader first. */
  async participants(): Promise<Participant[]> {
    return (await this.list('electionParticipants')).map((text) => {
      const [id = '', isLeader] = text.split('=');
      return { id, isLeader: isLeader === 'true' };
    });
  }
}

/** A distributed atomic number, `long:/a` or `integer:/a`. */
export class NumberActor extends ObjectActor {
  readonly get = () => this.ask('get');
  readonly forceSet = (value: string) => this.does('forceSet', value);
  /** False where there is a number already. */
  readonly initialize = (value: string) => this.is('initialize', value);
  /** Adds 1 that many times; resolves to how often that did not succeed, and was repeated. */
  readonly count = (times: number) => this.number('count', times);

  async change(
    how: 'increment' | 'decrement' | 'add' | 'subtract' | 'trySet' | 'compareAndSet',
    ...operands: string[]
  ) {
    const [succeeded, preValue = '', postValue = ''] = (await this.ask(how, ...operands)).split(
      ' ',
    );
    return { succeeded: succeeded === 'true', preValue, postValue };
  }
}

/** A shared value: a number, `count:/a`, or bytes that are a word, `value:/a`. */
export class ValueActor extends ObjectActor {
  readonly start = (seed: string) => this.does('start', seed);
  /** The value seen last. */
  readonly get = () => this.ask('get');
  readonly set = (value: string) => this.does('set', value);
  /** False when it was set elsewhere since it was seen last. */
  readonly trySet = (value: string) => this.is('trySet', value);
  /** What the listener has received. */
  readonly heard = () => this.list('heard');
}

/**
 * An owner of locks on Redis.
 *
 * Locks are named by kind and name: `lock:a`, `fair:a`, `fenced:a`, `read:a`, `write:a`, `spin:a`, and `lock:a+lock:b` for a
 * multi-lock.
 */
export class RedisActor extends CommandedActor {
  /** Whether it was granted within the wait, forever unless it is given. */
  readonly acquire = (lock: string, { wait = 'forever', lease = -1 }: AcquireOptions = {}) =>
    this.is('acquire', lock, word(wait), lease);
  /** Whether it was granted at once. */
  readonly tryAcquire = (lock: string) => this.is('tryAcquire', lock);
  /** Releases the most recent acquire of that lock. */
  readonly release = (lock: string) => this.does('release', lock);
  /** Frees the lock, no reader's or writer's, whatever its holder; false when it is free. */
  readonly forceUnlock = (lock: string) => this.is('forceUnlock', lock);
  /** Whether it is held at all. */
  readonly isLocked = (lock: string) => this.is('isLocked', lock);
  /** Whether this actor holds it. */
  readonly isHeld = (lock: string) => this.is('isHeld', lock);
  /** How often this actor holds it. */
  readonly holdCount = (lock: string) => this.number('holdCount', lock);
  /** How long the lock stays held unless it is renewed, in ms; -2 when it is free. */
  readonly remaining = (lock: string) => this.number('remaining', lock);
  /** Fencing token of the most recent acquire of that lock. */
  readonly token = (lock: string) => this.number('token', lock);
  /** How many actors of its process wait for locks; in Java, those that are already asleep. */
  readonly sleepers = () => this.number('sleepers');
  /** Field of the lock's hash that marks this actor as a holder. */
  readonly holder = (lock: string) => this.ask('holder', lock);
}

/** A count-down latch on Redis. */
export class RedisLatchActor extends ObjectActor {
  /** Whether it was open, and is closed now. */
  readonly trySetCount = (count: number) => this.is('trySetCount', count);
  readonly countDown = () => this.does('countDown');
  readonly count = () => this.number('count');
  /** Whether it opened within that many ms; default: it waits forever. */
  readonly await = (wait = -1) => this.is('await', wait);
  /** Whether it was closed. */
  readonly delete = () => this.is('delete');
}

/** A semaphore on Redis that has permits with ids and leases. */
export class RedisPermitActor extends ObjectActor {
  /** Releases the most recent acquire. */
  readonly release = () => this.does('release');
  /** Releases these permits, whichever actor acquired them; whether all of them were held. */
  readonly releaseIds = (ids: readonly string[]) => this.is('releaseIds', ...ids);
  /** Whether it holds its most recent acquire, as far as it knows; Node only. */
  readonly isHeld = () => this.is('isHeld');
  /** Whether it did not exist before. */
  readonly trySetPermits = (permits: number) => this.is('trySetPermits', permits);
  readonly setPermits = (permits: number) => this.does('setPermits', permits);
  readonly addPermits = (permits: number) => this.does('addPermits', permits);
  /** Remaining time of that permit, in ms; -1 when it does not expire. */
  readonly leaseTime = (id: string) => this.number('leaseTime', id);
  /** Whether that permit was held, so that it now has that many ms. */
  readonly updateLeaseTime = (id: string, lease: number) => this.is('updateLeaseTime', id, lease);
  /** Available, acquired, and all of them. */
  readonly counts = () =>
    Promise.all(['available', 'acquired', 'permits'].map((which) => this.number(which)));

  /** Ids of the permits; `undefined` when it was not granted within the wait, forever unless it is given. */
  async acquire(options: AcquireOptions = {}): Promise<string[] | undefined> {
    const { permits = 1, wait = 'forever', lease = -1 } = options;
    const [outcome, ...ids] = await this.list('acquire', permits, word(wait), lease);
    return outcome === 'granted' ? ids : undefined;
  }
}

/** A semaphore on Redis that has permits without owners. */
export class RedisSemaphoreActor extends ObjectActor {
  /** Whether it was granted within the wait, forever unless it is given. */
  readonly acquire = ({ permits = 1, wait = 'forever' }: AcquireOptions = {}) =>
    this.is('acquire', permits, word(wait));
  readonly release = (permits = 1) => this.does('release', permits);
  /** Whether the semaphore existed. */
  readonly releaseIfExists = (permits = 1) => this.is('releaseIfExists', permits);
  readonly availablePermits = () => this.number('available');
  /** Whether it did not exist before. */
  readonly trySetPermits = (permits: number) => this.is('trySetPermits', permits);
  readonly addPermits = (permits: number) => this.does('addPermits', permits);
  /** How many it acquired. */
  readonly drainPermits = () => this.number('drain');
}
