import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnModuleInit,
} from '@nestjs/common';
import {
  defer,
  distinctUntilChanged,
  type Observable,
  repeat,
  ReplaySubject,
  share,
  takeUntil,
} from 'rxjs';
import { LockClientRegistry } from '../clients/lock-client.registry.js';
import { ClientInspector } from './client-inspector.js';
import {
  LOCK_INSPECTOR_SETTINGS,
  type LockInspectorSettings,
} from './lock-inspector-options.interface.js';
import type { LockInspectorSnapshot } from './lock-inspector-snapshot.interface.js';

/** Shows the locks of the application: holders and waiters in all processes, for all clients. */
@Injectable()
export class LockInspector implements OnModuleInit, BeforeApplicationShutdown {
  readonly #logger = new Logger('LockModule');
  readonly #closing = new ReplaySubject<void>(1);
  readonly #clients: ClientInspector[] = [];
  #underWay?: Promise<LockInspectorSnapshot>;
  readonly #changes: Observable<LockInspectorSnapshot>;

  constructor(
    private readonly registry: LockClientRegistry,
    @Inject(LOCK_INSPECTOR_SETTINGS) private readonly settings: LockInspectorSettings,
  ) {
    this.#changes = defer(() => this.snapshot()).pipe(
      repeat({ delay: this.settings.every }),
      distinctUntilChanged(isSameSnapshot),
      share({ connector: () => new ReplaySubject(1) }),
      takeUntil(this.#closing),
    );
  }

  onModuleInit(): void {
    for (const name of this.registry.names)
      this.#clients.push(new ClientInspector(this.registry.get(name), this.settings));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#closing.next();
    this.#closing.complete();
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Takes a snapshot of the current state. What cannot be determined is listed in `problems`; it does not reject. */
  snapshot(): Promise<LockInspectorSnapshot> {
    this.#underWay ??= this.#look().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  /**
   * The current state, and again after every change. While there are subscribers, the servers and the other processes are
   * polled, once for all subscribers.
   */
  changes(): Observable<LockInspectorSnapshot> {
    return this.#changes;
  }

  /**
   * Releases a lock by force, for an operator: its holder may still be working when the next one is granted the lock.
   * Resolves to false if that holder no longer holds it.
   *
   * @param client name of the client
   * @param name name of the lock on the servers, as in a snapshot
   * @param ids ids of the holder, as in a snapshot
   */
  async release(client: string, name: string, ids: readonly string[]): Promise<boolean> {
    const inspector = this.#clients.find((each) => each.client.name === client);
    const released = (await inspector?.release(name, ids)) ?? false;
    if (released)
      this.#logger.warn(`Lock ${JSON.stringify(name)} of client "${client}" was released by force`);
    return released;
  }

  async #look(): Promise<LockInspectorSnapshot> {
    const clients = await Promise.all(this.#clients.map((client) => client.inspect()));
    return { at: Date.now(), clients };
  }
}

/** Whether both show the same. Times are ignored: they vary by a millisecond between snapshots. */
function isSameSnapshot(one: LockInspectorSnapshot, other: LockInspectorSnapshot): boolean {
  return withoutTimes(one) === withoutTimes(other);
}

function withoutTimes(snapshot: LockInspectorSnapshot): string {
  return JSON.stringify(snapshot.clients, (key, value: unknown) =>
    key === 'since' ? undefined : value,
  );
}
