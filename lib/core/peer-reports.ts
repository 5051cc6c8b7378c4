/**
 * What an exchange is about. It is a part of its names on the servers, so it stays as it is: processes on different topics do not
 * see each other. Later versions of a report may add fields to it; one that older ones must not read takes a topic of its own.
 */
export type ExchangeTopic = 'inspector' | 'deadlocks';

/** Maximum length of a report that is read, in bytes; a longer one counts as unreadable. */
export const LONGEST_REPORT = 1_000_000;

/** Bounds of an exchange of reports. */
export interface ExchangeLimits {
  /** Maximum length of the reports that this process writes, in bytes; a part of `LONGEST_REPORT`. */
  readonly reportSize: number;
  /** Maximum number of processes whose reports are read. */
  readonly processes: number;
}

/** Answers of other processes. */
export interface PeerAnswers {
  /** One report for each process that was read; an empty text for one that is too long. */
  readonly reports: readonly string[];
  /** Number of processes that were not read, as there are more than `ExchangeLimits.processes`. */
  readonly unread: number;
}

/** Makes the report of this process, of at most so many bytes. */
export type MakeReport = (maxBytes: number) => string | Promise<string>;

/** Exchange of reports between processes on the same servers, at the request of one of them. */
export interface PeerReports {
  /** Starts to answer requests, each with the result of `report` at that time. Nothing is written before the first request. */
  answer(report: MakeReport): void;
  /** Resolves to the answers of the other processes within `timeout` ms. Rejects when the servers do not allow the request. */
  ask(timeout: number): Promise<PeerAnswers>;
  /** Stops answering, and removes what it has left on the servers. Never rejects. */
  close(): Promise<void>;
}
