import { randomUUID } from 'node:crypto';
import type { LockClient } from '../core/index.js';
import { LOCK_INSPECTION, type LockInspection, type PeerReports } from '../core/lock-inspection.js';
import type { LockInspectorSettings } from './lock-inspector-options.interface.js';
import { type InspectedClient, LockCounts } from './lock-inspector-snapshot.interface.js';
import { mergeLocks } from './merge-locks.js';
import { makeReport, parseReport, type ProcessReport } from './process-report.js';

/** Servers that take longer than this, in ms, are reported as not answering. */
const PATIENCE = 2_000;

/** Inspects the locks of one client. */
export class ClientInspector {
  readonly #id = randomUUID();
  readonly #counts: LockCounts;
  readonly #survey?: LockInspection;
  readonly #exchange?: PeerReports;

  /** @param client a client of this package; of any other kind, or a fake, only its own activity is shown */
  constructor(
    readonly client: LockClient,
    private readonly settings: LockInspectorSettings,
  ) {
    this.#counts = new LockCounts(client);
    this.#survey = (client as { [LOCK_INSPECTION]?: LockInspection })[LOCK_INSPECTION];
    this.#exchange = this.#survey?.exchange();
    this.#exchange?.answer(() => JSON.stringify(this.#report()));
  }

  /** Takes a snapshot of the client. Never rejects. */
  async inspect(): Promise<InspectedClient> {
    const problems: string[] = [];
    const explain = (what: string) => (error: unknown) => {
      problems.push(`${what} (${error instanceof Error ? error.message : String(error)})`);
      return undefined;
    };
    const asked = this.#exchange?.ask(this.settings.answerWithin);
    const answers = await answerWithin(PATIENCE, asked).catch(
      explain('Other processes could not be asked'),
    );
    const reports = this.#with(answers ?? []);
    const surveyed = await answerWithin(PATIENCE, this.#locks(reports)).catch(
      explain('The servers did not report the holders'),
    );
    const { health, state } = this.client.status();
    const keyOf = (name: string) => this.#survey?.keyOf(name) ?? name;
    return {
      name: this.client.name,
      health,
      state,
      processes: reports.map(({ host, pid, held, waiting, lost, timedOut }) => {
        return { host, pid, held, waiting, lost, timedOut };
      }),
      locks: mergeLocks(reports, surveyed?.locks, keyOf).slice(0, this.settings.limit),
      omitted: surveyed?.omitted ?? 0,
      problems,
    };
  }

  /** Releases the lock of a holder with one of these ids; resolves to false if there is no such holder now. */
  async release(name: string, ids: readonly string[]): Promise<boolean> {
    const { locks } = await this.inspect();
    const holders = locks.find((lock) => lock.name === name)?.holders ?? [];
    const holder = holders.find((each) => each.ids.some((id) => ids.includes(id)));
    if (holder === undefined || this.#survey === undefined) return false;
    return await this.#survey.release(name, holder.ids);
  }

  async close(): Promise<void> {
    this.#counts.stop();
    await answerWithin(PATIENCE, this.#exchange?.close()).catch(() => {});
  }

  #report(): ProcessReport {
    const survey = this.#survey;
    const nameOf = (key: string) => survey?.nameOf(key) ?? key;
    const activities = survey?.activity() ?? this.client.activity();
    return makeReport(this.#id, { nameOf, activities }, this.#counts);
  }

  /** Our own report, then those of the other processes, without duplicates. */
  #with(answers: readonly string[]): ProcessReport[] {
    const others = answers.map(parseReport).filter((report) => report !== undefined);
    const byId = new Map(others.map((report) => [report.id, report]));
    byId.delete(this.#id);
    const sorted = [...byId.values()].sort((a, b) =>
      a.host === b.host ? a.pid - b.pid : a.host < b.host ? -1 : 1,
    );
    return [this.#report(), ...sorted];
  }

  #locks(reports: readonly ProcessReport[]) {
    const { limit, scan } = this.settings;
    const activity = reports.flatMap((report) => report.activity);
    const single = activity.filter(({ recipe }) => recipe !== 'multiLock');
    const held = activity.filter(({ state }) => state === 'held').flatMap(({ ids }) => ids);
    const names = new Set(single.map(({ name }) => name));
    return this.#survey?.locks({ names, held: new Set(held), limit, scan });
  }
}

/** Settles like `work`; rejects if that takes longer than `ms` milliseconds. */
async function answerWithin<T>(ms: number, work: Promise<T> | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    timer.unref();
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
