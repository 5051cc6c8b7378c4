import type { LockInspectorSnapshot } from '../../../lib/inspector/index.js';

/** What a browser's EventSource does: reads the snapshots of the inspector as they come. */
export class EventStream {
  /** How many have come. */
  count = 0;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  readonly #snapshots: LockInspectorSnapshot[] = [];
  #tell?: () => void;

  private constructor(
    response: Response,
    private readonly controller: AbortController,
  ) {
    this.ended = this.#read(response).catch(() => {});
  }

  static async open(url: string): Promise<EventStream> {
    const controller = new AbortController();
    return new EventStream(await fetch(url, { signal: controller.signal }), controller);
  }

  /** The next one. */
  async next(): Promise<LockInspectorSnapshot> {
    while (this.#snapshots.length === 0) await new Promise<void>((tell) => (this.#tell = tell));
    return this.#snapshots.shift()!;
  }

  async close(): Promise<void> {
    this.controller.abort();
    await this.ended;
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (text + chunk).split('\n\n');
      text = events.pop()!;
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    const [, data] = /^data: (\{.*)$/m.exec(event) ?? [];
    if (data === undefined) return;
    this.count += 1;
    this.#snapshots.push(JSON.parse(data) as LockInspectorSnapshot);
    this.#tell?.();
  }
}
