import { randomUUID } from 'node:crypto';
import type { PeerReports } from '../../core/lock-inspection.js';
import { CreateMode, type WatchEvent } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { listChildren, nextStateChange } from '../nodes/node-requests.js';
import { sleep } from '../../core/internal/timers.js';
import type { RecipeContext } from '../recipe-context.js';

const EMPTY = Buffer.alloc(0);

/** Pause between two checks for answers, and after an error, in ms. */
const LOOK_AGAIN_AFTER = 20;
const TRY_AGAIN_AFTER = 1_000;

/**
 * Each answering process has an ephemeral node and watches the node `ask`. A process asks by writing `ask`; a process node
 * that was written after the question is the answer.
 */
export class ZooKeeperReports implements PeerReports {
  readonly #id = randomUUID();
  readonly #question: string;
  readonly #answers: string;
  #isClosed = false;
  #stop?: () => void;

  constructor(
    private readonly context: RecipeContext,
    directory: string,
  ) {
    this.#question = `${directory}/ask`;
    this.#answers = `${directory}/processes`;
  }

  answer(report: () => string): void {
    void this.#answerOn(report);
  }

  async ask(timeout: number): Promise<string[]> {
    const { clock } = this.context;
    const deadline = clock.now() + timeout;
    const asked = await this.#ask();
    for (;;) {
      const answers = await this.#read(asked);
      const isComplete = answers.every((answer) => answer !== undefined);
      if (isComplete || clock.now() >= deadline)
        return answers.filter((answer) => answer !== undefined);
      await sleep(this.context.clock, LOOK_AGAIN_AFTER);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop?.();
    await this.context.connection.delete(this.#own).catch(() => {}); // otherwise it is removed with the session
  }

  get #own(): string {
    return `${this.#answers}/${this.#id}`;
  }

  /** Writes the question and resolves to its transaction id. */
  async #ask(): Promise<number> {
    const { connection, parents } = this.context;
    for (;;)
      try {
        return (await connection.setData(this.#question, EMPTY)).mzxid;
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
        await parents.make(this.#answers);
        await parents.create(this.#question, EMPTY).catch(unlessThere);
      }
  }

  /** Reads the answer of each other process to the question of that transaction, `undefined` if there is none yet. */
  async #read(asked: number): Promise<(string | undefined)[]> {
    const { connection } = this.context;
    const names = await listChildren(connection, this.#answers);
    const others = names.filter((name) => name !== this.#id);
    const read = others.map(async (name) => {
      try {
        const { data, stat } = await connection.getData(`${this.#answers}/${name}`);
        return stat.mzxid > asked ? data.toString() : undefined;
      } catch (error) {
        if (ZooKeeperError.is(error, ReturnCode.NONODE)) return undefined; // the process has just ended
        throw error;
      }
    });
    return await Promise.all(read);
  }

  async #answerOn(report: () => string): Promise<void> {
    const { connection } = this.context;
    while (!this.#isClosed)
      try {
        let tell!: (event: WatchEvent) => void;
        const asked = new Promise<void>((resolve) => (tell = () => resolve()));
        this.#stop = () => {
          connection.unwatch(this.#question, tell);
          tell({ type: 'disconnected', path: this.#question });
        };
        await connection.exists(this.#question, tell);
        if (!this.#isClosed) await this.#write(Buffer.from(report()));
        await asked;
      } catch (error) {
        if (!(error instanceof ZooKeeperError)) throw error;
        this.#stop?.();
        if (connection.isConnected) await sleep(this.context.clock, TRY_AGAIN_AFTER);
        else await this.#untilStateChange();
      }
  }

  async #write(answer: Buffer): Promise<void> {
    const { connection, parents } = this.context;
    try {
      await connection.setData(this.#own, answer);
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      await parents.make(this.#answers);
      await connection.create(this.#own, answer, CreateMode.EPHEMERAL).catch(unlessThere);
    }
  }

  async #untilStateChange(): Promise<void> {
    const { changed, stop } = nextStateChange(this.context.connection);
    const closed = new Promise<void>((resolve) => (this.#stop = resolve));
    await Promise.race([changed, closed]);
    stop();
  }
}

function unlessThere(error: unknown): void {
  if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error;
}
