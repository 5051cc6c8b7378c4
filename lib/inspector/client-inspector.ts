import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LockClient } from '../core/index.js';
import {
  LOCK_INSPECTION,
  type LockInspection,
  type ObservedLocks,
} from '../core/lock-inspection.js';
import type { PeerAnswers, PeerReports } from '../core/peer-reports.js';
import type { LockInspectorSettings } from './lock-inspector-options.interface.js';
import { type InspectedClient, LockCounts } from './lock-inspector-snapshot.interface.js';
import { inTurn, mergeLocks } from './merge-locks.js';
import { makeReport, MOST, parseReport, type ProcessReport } from './process-report.js';

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
    const { reportSize, processes } = settings;
    this.#exchange = this.#survey?.exchange({ reportSize, processes });
    this.#exchange?.answer(async (maxBytes) => JSON.stringify(await this.#report(maxBytes)));
  }

  /** Takes a snapshot of the client. Never rejects. */
  async inspect(): Promise<InspectedClient> {
    const problems: string[] = [];
    const explain = (what: string) => (error: unknown) => {
      problems.push(`${what} (${error instanceof Error ? error.message : String(error)})`);
      return undefined;
    };
    const asked = this.#exchange?.ask(this.settings.answerWithin);
    const answers = await answerWithin(this.settings.answerWithin + PATIENCE, asked).catch(
      explain('Other processes could not be asked'),
    );
    const reports = await this.#read(answers, problems);
    const surveyed = await answerWithin(PATIENCE, this.#locks(reports)).catch(
      explain('The servers did not report the holders'),
    );
    const refusals = surveyed?.refusals ?? [];
    if (refusals.length > 0)
      problems.push(`The servers refused to read ${count(refusals, 'lock')} (${refusals[0]})`);
    const { health, state } = this.#survey?.health() ?? this.client.status();
    const keyOf = (name: string) => this.#survey?.keyOf(name) ?? name;
    const { locks, omitted } = mergeLocks(reports, surveyed?.locks, keyOf, this.settings.limit);
    return {
      name: this.client.name,
      ...(this.#survey?.place ?? { backend: 'unknown', servers: [], prefix: '' }),
      health,
      state,
      processes: reports.map((report) => {
        const { host, pid, held, waiting, kept, endangered, stalledMs, lost, timedOut } = report;
        const ever = { lost, timedOut, omitted: report.omitted };
        return { host, pid, held, waiting, kept, endangered, stalledMs, ...ever };
      }),
      locks,
      omitted: omitted + (surveyed?.omitted ?? 0) + refusals.length,
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

  async #report(maxBytes: number): Promise<ProcessReport> {
    const survey = this.#survey;
    const nameOf = (key: string) => survey?.nameOf(key) ?? key;
    const urgent = survey?.activity(MOST) ?? { activities: this.client.activity() };
    await nextTurn();
    return makeReport(this.#id, { nameOf, ...urgent }, this.#counts, maxBytes);
  }

  /** Our own report, then those of the other processes, without duplicates. */
  async #read(answers: PeerAnswers | undefined, problems: string[]): Promise<ProcessReport[]> {
    // Each of these takes milliseconds at 1,000 acquires, so others have a turn in between.
    await nextTurn();
    const own = await this.#report(this.settings.reportSize);
    await nextTurn();
    const byId = new Map([[own.id, own]]);
    const unreadable: string[] = [];
    for (const text of answers?.reports ?? []) {
      await nextTurn();
      const report = parseReport(text);
      if (report === undefined) unreadable.push(text);
      else if (!byId.has(report.id)) byId.set(report.id, report);
    }
    const [, ...others] = byId.values();
    const sorted = others.sort((a, b) =>
      a.host === b.host ? a.pid - b.pid : a.host < b.host ? -1 : 1,
    );
    const reports = [own, ...sorted];
    if (unreadable.length > 0)
      problems.push(
        `${count(unreadable, 'report')} of other processes could not be read: they may run another version of this package`,
      );
    if (answers !== undefined && answers.unread > 0)
      problems.push(
        `${answers.unread} more processes have answered than are read (option \`processes\`)`,
      );
    problems.push(...withoutRoom(reports));
    return reports;
  }

  async #locks(reports: readonly ProcessReport[]): Promise<ObservedLocks | undefined> {
    const { limit, scan } = this.settings;
    const activity = inTurn(reports).map((each) => each.activity);
    const single = activity.filter(({ recipe }) => recipe !== 'multiLock');
    const held = activity.filter(({ state }) => state === 'held').flatMap(({ ids }) => ids);
    const awaited = single.filter(({ state }) => state === 'waiting');
    const names = new Set([...awaited, ...single].map(({ name }) => name));
    return await this.#survey?.locks({ names, held: new Set(held), limit, scan });
  }
}

/** What the reports, and the snapshot, have no room for. */
function withoutRoom(reports: readonly ProcessReport[]): string[] {
  const gaps = reports.flatMap(({ host, pid, omitted, uncounted }) => {
    const parts = [
      ...(omitted > 0 ? [`${omitted} acquires`] : []),
      ...(uncounted > 0 ? [`the counts of ${uncounted} locks`] : []),
    ];
    if (parts.length === 0) return [];
    return [`The report of ${host} · ${pid} has no room for ${parts.join(' and ')}`];
  });
  const all = reports.reduce((sum, { activity }) => sum + activity.length, 0);
  const left = all - inTurn(reports).length;
  if (left > 0) gaps.push(`${left} more acquires are reported than are shown`);
  return gaps;
}

function count({ length }: readonly unknown[], noun: string): string {
  return `${length} ${noun}${length === 1 ? '' : 's'}`;
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
