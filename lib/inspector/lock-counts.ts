import { LockTimeoutError, type LockClient } from '../core/index.js';

/** Locks whose counts are kept; those that have not changed for longest are forgotten first. */
const CAPACITY = 1_000;

/** How often the locks of a client were lost or timed out, since it was listened to. */
export class LockCounts {
  lost = 0;
  timedOut = 0;
  readonly #byKey = new Map<string, readonly [lost: number, timedOut: number]>();
  readonly #stop: (() => void)[];

  constructor(client: LockClient) {
    this.#stop = [
      client.on('lost', ({ key }) => {
        this.lost += 1;
        this.#count(key, 1, 0);
      }),
      client.on('failed', ({ key, error }) => {
        if (!(error instanceof LockTimeoutError)) return;
        this.timedOut += 1;
        this.#count(key, 0, 1);
      }),
    ];
  }

  get byKey(): ReadonlyMap<string, readonly [lost: number, timedOut: number]> {
    return this.#byKey;
  }

  stop(): void {
    for (const stop of this.#stop) stop();
  }

  #count(key: string, lost: number, timedOut: number): void {
    const [lostBefore, timedOutBefore] = this.#byKey.get(key) ?? [0, 0];
    this.#byKey.delete(key); // to the end of the order
    this.#byKey.set(key, [lostBefore + lost, timedOutBefore + timedOut]);
    const [eldest] = this.#byKey.keys();
    if (this.#byKey.size > CAPACITY) this.#byKey.delete(eldest!);
  }
}
