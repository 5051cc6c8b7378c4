import { LIVENESS, type Liveness } from '../core/internal/client-lifecycle.js';
import type { LockClient } from '../core/index.js';

/** Interval between two looks, in ms. */
const EVERY = 100;
/** A client whose connections can be let go. */
type Watched = LockClient & { readonly [LIVENESS]: Liveness; readonly pending: number };

/**
 * Lets a process end whose connections are all that is left of an app: the boot has failed elsewhere, in another provider, of
 * which Nest gives no notice; or the app was closed, and work under a lock that is kept will never end.
 *
 * Meanwhile, connections do not keep the process alive; this does, by its timer, as that app may wait for nothing but a lock.
 * When nothing else is active any more, nothing can come of it: so it lets go. If the process then lives on, something is at
 * work that Node does not list (a native addon), and it holds on again, for twice as long each time.
 */
export class LivenessWatch {
  /** Those whose timers keep this process alive now: of several apps, none must wait for the other. */
  static readonly #holding = new Set<LivenessWatch>();
  #timer?: NodeJS.Timeout;
  #idleLooks = 0;
  #patience: number;
  #state: 'holding' | 'letting go' | 'let go' = 'holding';
  readonly #clients = new Set<Watched>();

  /**
   * @param idleLooks number of looks in a row that find the process idle, before the connections are let go for the first time
   * @param isOver whether there is nothing to watch any more
   */
  constructor(
    idleLooks: number,
    private readonly isOver: () => boolean = () => false,
  ) {
    this.#patience = idleLooks;
  }

  /** Watches the connections of a client. */
  add(client: LockClient): void {
    if ((client as Partial<Watched>)[LIVENESS] === undefined) return; // it is embedded
    this.#clients.add(client as Watched);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#look(), EVERY);
    LivenessWatch.#holding.add(this);
  }

  /** The app is up, or its clients are closed. */
  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    LivenessWatch.#holding.delete(this);
    for (const client of this.#clients) client[LIVENESS].ref();
    this.#clients.clear();
  }

  #look(): void {
    if (this.isOver()) return this.end();
    if (this.#state === 'letting go') return;
    if (this.#state === 'let go') this.#holdOn();
    for (const client of this.#clients) client[LIVENESS].unref();
    this.#idleLooks = this.#isIdle ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks >= this.#patience) this.#letGo();
  }

  /** Whether no call of a client waits, and nothing but such timers keeps the process alive, as far as Node knows. */
  get #isIdle(): boolean {
    const isWaitedFor = [...this.#clients].some(({ pending }) => pending > 0);
    return !isWaitedFor && activeResources() <= LivenessWatch.#holding.size;
  }

  #letGo(): void {
    this.#state = 'letting go';
    this.#timer!.unref();
    LivenessWatch.#holding.delete(this);
    const free = [...this.#clients].filter((client) => client.status().held === 0);
    const closing = free.map((client) => client[LIVENESS].rest());
    void Promise.all(closing).then(() => (this.#state = 'let go'));
  }

  #holdOn(): void {
    this.#state = 'holding';
    this.#idleLooks = 0;
    this.#patience *= 2;
    this.#timer!.ref();
    LivenessWatch.#holding.add(this);
    for (const client of this.#clients) client[LIVENESS].ref();
  }
}

/** Number of sockets, timers, files and the like that keep the process alive, as far as Node knows. */
function activeResources(): number {
  // Node lists the pipes and terminals of its own output, which keep nothing alive.
  const outputs = [process.stdout, process.stderr].filter((output) => {
    const handle = Reflect.get(output, '_handle') as { hasRef?(): boolean } | null | undefined;
    return handle?.hasRef?.() === true;
  });
  return process.getActiveResourcesInfo().length - outputs.length;
}
