/** How processes on the same servers tell each other what they are at, when one of them asks. */
export interface ReportExchange {
  /** From now on answers who asks, with what `report` gives then. */
  answer(report: () => string): void;
  /** What the other processes answer within `timeout` ms. Rejects when the servers do not let it ask. */
  ask(timeout: number): Promise<string[]>;
  /** Answers nobody any more, and takes away what it has left on the servers. Never rejects. */
  close(): Promise<void>;
}
