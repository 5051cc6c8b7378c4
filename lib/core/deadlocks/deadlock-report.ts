import { hostname } from 'node:os';
import { isElection } from '../lock.js';
import { type WaitInside, outerLeases } from './deadlocks.js';

/** A wait inside of locks, as its client reports it. */
export interface ReportedWait {
  /** Unique, and the same in every report. */
  readonly id: string;
  /** When it began to wait for others, in ms since 1970 by the clock of its host. */
  readonly since: number;
  readonly method?: string | undefined;
  /** Names on the servers of the locks that it waits for. */
  readonly waitsFor: readonly string[];
  /** The locks with one holder that its caller is inside of and still holds. */
  readonly inside: readonly {
    readonly name: string;
    /** The `method` by which it was acquired. */
    readonly holder?: string | undefined;
  }[];
}

/** What one client reports of itself to the clients of other processes. */
export interface DeadlockReport {
  readonly host: string;
  readonly pid: number;
  readonly client: string;
  /** The oldest first: those that can never be granted become the oldest in time. */
  readonly waits: readonly ReportedWait[];
}

/** Maximum length of a report, in bytes. A longer one is not read. */
export const LONGEST_REPORT = 65_536;

/** Maximum number of waits of a report. */
export const MOST_WAITS = 1_000;

/** Maximum number of locks that a wait is for, and that it is inside of: the first ones count, and the innermost. */
const MOST_LOCKS = 100;

/** Maximum number of characters of a name: a lock with a longer one is left out, as a part of it may be another name. */
const LONGEST_NAME = 4_096;

/** Maximum number of characters of any other text. */
const LONGEST_TEXT = 255;

const HOST = hostname();

/** Bytes that are kept for all except the waits. */
const FRAME = 2_048;

/** What this process reports of a wait. */
export function reportedWait(
  id: string,
  since: number,
  { keys, method, around, scope }: WaitInside,
  nameOf: (key: string) => string,
): ReportedWait {
  const isSafe = (name: string) => name.length <= LONGEST_NAME;
  const own = outerLeases(around).filter(
    ({ hold: { identity }, isHeld }) =>
      isHeld && identity.scope === scope && !isElection(identity.recipe),
  );
  const inside = own.slice(0, MOST_LOCKS).map(({ hold: { context, subject } }) => ({
    name: nameOf(context.key!),
    holder: subject.method?.slice(0, LONGEST_TEXT),
  }));
  return {
    id,
    since,
    method: method?.slice(0, LONGEST_TEXT),
    waitsFor: keys.slice(0, MOST_LOCKS).map(nameOf).filter(isSafe),
    inside: inside.filter(({ name }) => isSafe(name)),
  };
}

/** Creates the report of this process about a client. */
export function deadlockReport(client: string, waits: readonly ReportedWait[]): DeadlockReport {
  return { host: HOST, pid: process.pid, client: client.slice(0, LONGEST_TEXT), waits };
}

/** Writes the report, with as many of the waits as fit into `maxBytes`. */
export function writeReport({ waits, ...rest }: DeadlockReport, maxBytes: number): string {
  let room = maxBytes - FRAME;
  const fitting = waits.slice(0, MOST_WAITS).filter((wait) => {
    const bytes = Buffer.byteLength(JSON.stringify(wait)) + 1;
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  return JSON.stringify({ ...rest, waits: fitting });
}

/**
 * Parses the report of another process; `undefined` if it makes no sense. Any client that may write to the exchange can write
 * anything, so every field is checked, and no other is kept. Texts that may be printed have no control characters.
 */
export function parseDeadlockReport(text: string): DeadlockReport | undefined {
  if (text.length > LONGEST_REPORT) return undefined;
  try {
    const { host, pid, client, waits } = fieldsOf(JSON.parse(text));
    if (!Number.isSafeInteger(pid)) throw new TypeError('no process');
    return {
      host: printableOf(host),
      pid: pid as number,
      client: printableOf(client),
      waits: listOf(waits, MOST_WAITS).map(waitOf),
    };
  } catch {
    return undefined;
  }
}

function waitOf(value: unknown): ReportedWait {
  const { id, since, method, waitsFor, inside } = fieldsOf(value);
  if (!Number.isFinite(since)) throw new TypeError('no time');
  return {
    id: textOf(id, LONGEST_TEXT),
    since: since as number,
    ...(method !== undefined && { method: printableOf(method) }),
    waitsFor: listOf(waitsFor, MOST_LOCKS).map((name) => textOf(name, LONGEST_NAME)),
    inside: listOf(inside, MOST_LOCKS).map((lock) => {
      const { name, holder } = fieldsOf(lock);
      return {
        name: textOf(name, LONGEST_NAME),
        ...(holder !== undefined && { holder: printableOf(holder) }),
      };
    }),
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new TypeError('not an object');
}

function listOf(value: unknown, most: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value;
  throw new TypeError('no list');
}

function textOf(value: unknown, longest: number): string {
  if (typeof value === 'string' && value.length <= longest) return value;
  throw new TypeError('no text');
}

/** It goes to the log: with a line break, it could look like another entry. */
function printableOf(value: unknown): string {
  return textOf(value, LONGEST_TEXT).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
