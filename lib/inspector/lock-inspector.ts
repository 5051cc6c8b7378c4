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
  map,
  type Observable,
  repeat,
  ReplaySubject,
  share,
  takeUntil,
} from 'rxjs';
import type { LockClients } from '../clients/lock-clients.js';
import { LOCK_CLIENTS } from '../lock.constants.js';
import { ClientInspector } from './client-inspector.js';
import {
  LOCK_INSPECTOR_SETTINGS,
  type LockInspectorSettings,
  SHOWN,
} from './lock-inspector-options.interface.js';
import type { LockInspectorSnapshot } from './lock-inspector-snapshot.interface.js';

/** Shows the locks of the application: holders and waiters in all processes, for all clients. */
@Injectable()
export class LockInspector implements OnModuleInit, BeforeApplicationShutdown {
  readonly #logger = new Logger('LockModule');
  readonly #closing = new ReplaySubject<void>(1);
  readonly #clients: ClientInspector[] = [];
  #isClosing = false;
  #underWay?: Promise<LockInspectorSnapshot>;
  readonly #looks: Observable<LockInspectorSnapshot>;
  readonly #changes: Observable<LockInspectorSnapshot>;

  constructor(
    @Inject(LOCK_CLIENTS) private readonly registry: LockClients,
    @Inject(LOCK_INSPECTOR_SETTINGS) private readonly settings: LockInspectorSettings,
  ) {
    this.#looks = defer(() => this.snapshot()).pipe(
      repeat({ delay: this.settings.every }),
      share(),
      takeUntil(this.#closing),
    );
    this.#changes = this.#looks.pipe(
      // Times are ignored: they vary by a millisecond between snapshots.
      distinctUntilChanged((one, other) => one === other, withoutTimes),
      share({ connector: () => new ReplaySubject(1) }),
      takeUntil(this.#closing),
    );
  }

  onModuleInit(): void {
    for (const name of this.registry.names)
      this.#clients.push(new ClientInspector(this.registry.get(name), this.settings));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#isClosing = true;
    this.#closing.next();
    this.#closing.complete();
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Whether the app closes, so that `changes` has ended. @internal */
  get isClosing(): boolean {
    return this.#isClosing;
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

  /** The time of each snapshot that is taken for subscribers of `changes`, in ms since 1970, whether it differs or not. @internal */
  looks(): Observable<number> {
    return this.#looks.pipe(map(({ at }) => at));
  }

  /**
   * Releases a lock by force, for an operator: its holder may still be working when the next one is granted the lock.
   * Resolves to false if that holder no longer holds it.
   *
   * @param client name of the client
   * @param name name of the lock on the servers, as in a snapshot
   * @param ids ids of the holder, as in a snapshot
   * @param user the person who releases it, for the log
   */
  async release(
    client: string,
    name: string,
    ids: readonly string[],
    user?: string,
  ): Promise<boolean> {
    const inspector = this.#clients.find((each) => each.client.name === client);
    const released = (await inspector?.release(name, ids)) ?? false;
    const by = user === undefined ? '' : ` by ${JSON.stringify(String(user).slice(0, SHOWN))}`;
    if (released)
      this.#logger.warn(
        `Lock ${JSON.stringify(name)} of client "${client}" was released by force${by}`,
      );
    return released;
  }

  async #look(): Promise<LockInspectorSnapshot> {
    const clients = await Promise.all(this.#clients.map((client) => client.inspect()));
    return { at: Date.now(), clients };
  }
}

function withoutTimes(snapshot: LockInspectorSnapshot): string {
  return JSON.stringify(snapshot.clients, (key, value: unknown) =>
    key === 'since' ? undefined : value,
  );
}
