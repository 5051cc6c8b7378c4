import type { AcquireOptions, Lock } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import { runWithLease } from '../../lib/core/internal/lease-handle.js';
import { currentOperation } from './current-operation.js';
import type { Judge } from './judge.js';
import type { SimulatedClient } from './simulated-client.js';
import type { SimulatedLock } from './simulated-lock.js';

/** A lock as part of a multi-lock, which reports to the judge all that is done with it. */
export class ObservedPart implements Lock {
  readonly #real: Lock;

  constructor(
    private readonly judge: Judge,
    private readonly lock: SimulatedLock,
    client: SimulatedClient,
  ) {
    this.#real = lock.of(client);
  }

  get key(): string {
    return this.#real.key;
  }

  get identity(): Lock['identity'] {
    return this.#real.identity;
  }

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    const lease = await this.#take(options, false, () => this.#real.acquire(options));
    return lease!; // like the real one
  }

  tryAcquire(options: AcquireOptions = {}): Promise<Lease | undefined> {
    return this.#take(options, true, () => this.#real.tryAcquire(options));
  }

  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(await this.acquire(options), fn);
  }

  async #take(
    { wait, signal }: AcquireOptions,
    isTry: boolean,
    take: () => Promise<Lease | undefined>,
  ): Promise<Lease | undefined> {
    const whole = currentOperation.getStore()!;
    const bound = typeof wait === 'number' ? wait : undefined;
    const operation = this.judge.beganPart(whole, this.lock, { wait: bound, isTry });
    operation.abortedAt = whole.abortedAt;
    const tell = () => void (operation.abortedAt ??= whole.abortedAt);
    signal?.addEventListener('abort', tell);
    try {
      const lease = await currentOperation.run(operation, take);
      if (!lease) this.judge.refused(operation);
      else this.#listen(lease, this.judge.granted(operation, lease));
      return lease;
    } catch (error) {
      this.judge.failed(operation, error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', tell);
    }
  }

  /** Reports to the judge before it is released. */
  #listen(lease: Lease, hold: Parameters<Judge['releasing']>[0]): void {
    const release = lease.release.bind(lease);
    lease.release = () => {
      this.judge.releasing(hold, lease);
      return release();
    };
  }
}
