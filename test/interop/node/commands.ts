import { LockTimeoutError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/recipes/zookeeper-lease.js';
import { eventually } from '../../support/eventually.js';
import type { TestClient } from '../../integration/support/test-client.js';
import type { Locks } from './locks.js';
import { ObserverConnection } from './observer-connection.js';
import { Worker } from './worker.js';

interface Held {
  readonly lock: string;
  readonly lease: Lease;
  revocations: number;
}

/** What one actor can be asked to do; the answers are single lines. */
export class Commands {
  /** The innermost last. */
  private readonly held: Held[] = [];

  constructor(
    private readonly client: TestClient,
    private readonly locks: Locks,
  ) {}

  /** @param words the command and its arguments */
  async run([command, first = '', second = '', third = '']: readonly string[]): Promise<string> {
    switch (command) {
      case 'acquire':
        return this.acquire(first, Number(second), Number(third));
      case 'release':
        return this.release(first);
      case 'participants':
        return (await this.locks.get(first).participants!()).join(' ');
      case 'makeRevocable':
        return this.makeRevocable(first);
      case 'revoked':
        return this.revoked(first, Number(second));
      case 'revoke':
        return String(await this.client.locks.revoke(first));
      case 'startCount':
        await this.locks.startCount(first, Number(second));
        return 'started';
      case 'setCount':
        await this.locks.setCount(first, Number(second));
        return 'set';
      case 'session':
        return this.client.connection.session!.id;
      case 'work':
        return this.work(first, Number(second), third);
      case 'rest':
        Worker.rest();
        return 'resting';
      default:
        throw new Error(`No such command: ${command}`);
    }
  }

  private async acquire(lock: string, wait: number, permits: number): Promise<string> {
    const options = { wait: wait < 0 ? ('forever' as const) : wait, permits };
    // Inside of the leases that it holds, as a thread in Java is.
    const acquire = this.held.reduceRight(
      (inner, { lease }) =>
        () =>
          lease.run(inner),
      () => this.locks.get(lock).acquire(options),
    );
    try {
      this.held.push({ lock, lease: await acquire(), revocations: 0 });
      return 'granted';
    } catch (error) {
      if (error instanceof LockTimeoutError) return 'timeout';
      throw error;
    }
  }

  private async release(lock: string): Promise<string> {
    const held = this.holding(lock);
    this.held.splice(this.held.indexOf(held), 1);
    await held.lease.release();
    return 'released';
  }

  private makeRevocable(lock: string): string {
    const held = this.holding(lock);
    (held.lease as ZooKeeperLease).makeRevocable(() => (held.revocations += 1));
    return 'revocable';
  }

  private async revoked(lock: string, within: number): Promise<string> {
    const held = this.holding(lock);
    try {
      await eventually('revoked', () => held.revocations > 0, { within });
    } catch {
      return 'timeout';
    }
    held.revocations -= 1;
    return 'revoked';
  }

  private async work(lock: string, port: number, name: string): Promise<string> {
    const observer = await ObserverConnection.open(port, name);
    const failures = await new Worker(this.locks.get(lock), observer).run();
    observer.close();
    return String(failures);
  }

  private holding(lock: string): Held {
    const held = this.held.findLast((one) => one.lock === lock);
    if (!held) throw new Error(`Not held: ${lock}`);
    return held;
  }
}
