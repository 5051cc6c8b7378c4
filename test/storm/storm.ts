import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Program } from '../faults/support/program.js';
import { TestClient } from '../faults/support/test-client.js';
import { eventually } from '../support/time.js';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { contend, type Contention, ExclusiveFile, httpLoad } from './load.js';

/** A fault of the servers. */
export interface Fault {
  readonly name: string;
  /** Whether the client must lose its connection by it. */
  readonly breaks: boolean;
  /** The server that it affects. */
  victim(ensemble: ZooKeeperEnsemble, session: string): Promise<ZooKeeperServer | undefined>;
  begin(victim: ZooKeeperServer): Promise<unknown> | void;
  end(victim: ZooKeeperServer): Promise<unknown> | void;
}

const ownServer: Fault['victim'] = (ensemble, session) => ensemble.serverOf(session);
const killing = {
  breaks: true,
  begin: (victim: ZooKeeperServer) => victim.kill(),
  end: (victim: ZooKeeperServer) => victim.restart(),
};
const kill: Fault = { name: 'kill', victim: ownServer, ...killing };
const killLeader: Fault = {
  name: 'kill leader',
  victim: (ensemble) => ensemble.leader(),
  ...killing,
};
const freeze = (seconds: number, breaks: boolean): Fault => ({
  name: `freeze ${seconds} s`,
  breaks,
  victim: ownServer,
  begin: (victim) => {
    victim.freeze();
    return delay(seconds * 1_000);
  },
  end: (victim) => victim.thaw(),
});

/** The faults of one round of the storm. */
export const FAULTS: readonly Fault[] = [
  kill,
  kill,
  freeze(1, false),
  kill,
  freeze(5, true),
  killLeader,
];

/** State of the process in the storm. */
export interface StormReport {
  readonly session: string;
  /** The lease that it holds all the time is held, its signal has not aborted, and its node exists. */
  readonly isLeaseKept: boolean;
  readonly answered: number;
  readonly failed: number;
  /** Age of the oldest request without an outcome, in ms. */
  readonly oldestPending: number;
  readonly foreign: { readonly opened: number; readonly hung: number };
  readonly contention: Contention;
  /** How often it entered where another process was inside. */
  readonly violations: number;
}

/** What one fault has caused. Counts are since the beginning of the storm. */
export interface StormRow {
  readonly fault: string;
  /** Number of the server in the ensemble. */
  readonly server: number;
  /** The states that the process reported, each with the milliseconds since the fault. */
  readonly states: readonly { readonly ms: number; readonly state: string }[];
  /** An expected loss of the connection was reported. */
  readonly isNoticed: boolean;
  readonly isSessionKept: boolean;
  readonly report: StormReport;
  /** Number of grants to the rival. */
  readonly rival: Contention;
  /** How often two were inside. */
  readonly violations: number;
}

type Message = { readonly state: string } | { readonly report: StormReport };

/** The process in the storm, seen from outside. */
export class StormedProcess {
  readonly states: { readonly at: number; readonly state: string }[] = [];
  private tellReport: (report: StormReport) => void = () => {};

  private constructor(
    private readonly program: Program,
    /** Port of its HTTP service. */
    readonly port: number,
  ) {
    this.listen().catch(() => {}); // its end is reported by `report`
  }

  /** Resolves when it is under load. */
  static async start(args: readonly string[]): Promise<StormedProcess> {
    const program = new Program(new URL('./storm-process.ts', import.meta.url), args);
    const { port } = await program.next<{ port: number }>();
    return new StormedProcess(program, port);
  }

  /** Rejects when it has ended. */
  async report(): Promise<StormReport> {
    const report = new Promise<StormReport>((resolve) => (this.tellReport = resolve));
    const ended = this.program.exited.then((exit) => {
      throw new Error(`The process has ended: ${JSON.stringify(exit)}`);
    });
    this.program.tell('report');
    return Promise.race([report, ended]);
  }

  stop(): Promise<void> {
    return this.program.stop();
  }

  private async listen(): Promise<never> {
    for (;;) {
      const message = await this.program.next<Message>();
      if ('report' in message) this.tellReport(message.report);
      else this.states.push({ at: performance.now(), state: message.state });
    }
  }
}

const SESSION_TIMEOUT = 6_000;
/** In ticks of 500 ms: a frozen leader is replaced within half a session timeout. */
const SYNC_LIMIT = 5;
/** That many more grants of the contended lock show that work continues. */
const GOES_ON = 20;

/**
 * An ensemble with faults, under a process that is busy with HTTP, timers, foreign connections and locks. This process, the
 * rival, contends for one of the locks.
 */
export class Storm {
  private readonly contention: Contention = { grants: 0, timeouts: 0, losses: 0 };
  private readonly file: ExclusiveFile;
  private readonly contending: Promise<unknown>;
  private readonly endHttpLoad: () => void;
  private isOver = false;

  private constructor(
    private readonly folder: string,
    private readonly ensemble: ZooKeeperEnsemble,
    private readonly process: StormedProcess,
    private readonly rival: TestClient,
  ) {
    this.file = new ExclusiveFile(exclusiveFile(folder));
    const mutex = rival.locks.mutex('shared');
    this.contending = Promise.all(
      [0, 1].map(() => contend(mutex, this.file, this.contention, () => this.isOver)),
    );
    this.endHttpLoad = httpLoad(process.port);
  }

  static async start(): Promise<Storm> {
    const folder = mkdtempSync(join(tmpdir(), 'storm-'));
    const ensemble = await ZooKeeperEnsemble.start({ config: { syncLimit: SYNC_LIMIT } });
    const servers = ensemble.connectString;
    const [process, rival] = await Promise.all([
      StormedProcess.start([servers, exclusiveFile(folder), String(SESSION_TIMEOUT)]),
      TestClient.connect(servers, { sessionTimeout: SESSION_TIMEOUT }),
    ]);
    return new Storm(folder, ensemble, process, rival);
  }

  /** Triggers one fault, and resolves when work continues after it. Rejects when the process has died. */
  async strike(fault: Fault): Promise<StormRow> {
    const { ensemble, process } = this;
    const before = await process.report();
    const victim = await eventually('the victim is known', () =>
      fault.victim(ensemble, before.session),
    );
    const seen = process.states.length;
    const start = performance.now();
    await fault.begin(victim);
    const states = () =>
      process.states.slice(seen).map(({ at, state }) => ({ ms: Math.round(at - start), state }));
    if (fault.breaks) await eventually('the loss is noticed', () => states().length > 0);
    await fault.end(victim);
    await eventually('the victim is back', () => ensemble.isWhole(), { within: 30_000 });
    const report = await eventually(
      'life goes on',
      async () => {
        const now = await process.report();
        return now.contention.grants >= before.contention.grants + GOES_ON && now;
      },
      { within: 20_000, every: 100 },
    );
    return {
      fault: fault.name,
      server: ensemble.servers.indexOf(victim) + 1,
      states: states(),
      isNoticed: !fault.breaks || states()[0]?.state === 'SUSPENDED',
      isSessionKept: report.session === before.session,
      report,
      rival: { ...this.contention },
      violations: report.violations + this.file.violations,
    };
  }

  /** Ends everything that it has started. */
  async stop(): Promise<void> {
    this.isOver = true;
    this.endHttpLoad();
    await this.contending;
    await Promise.all([this.process.stop(), this.rival.locks.close()]);
    await this.ensemble.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function exclusiveFile(folder: string): string {
  return join(folder, 'inside');
}

/** Maximum time that a request may be without an outcome: two session timeouts, in ms. */
const LONGEST_PENDING = 12_000;

/** Whether the process survived it unharmed. */
export function isHarmless({ isNoticed, isSessionKept, report, violations }: StormRow): boolean {
  const isKept = isSessionKept && report.isLeaseKept;
  const isServed = report.foreign.hung === 0 && report.oldestPending < LONGEST_PENDING;
  return isNoticed && isKept && isServed && violations === 0;
}
