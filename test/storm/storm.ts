import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestClient } from '../integration/support/test-client.js';
import { eventually } from '../support/eventually.js';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { contend, type Contention } from './contend.js';
import { ExclusiveFile } from './exclusive-file.js';
import type { Fault } from './fault.js';
import { httpLoad } from './http-load.js';
import type { StormRow } from './storm-row.js';
import { StormedProcess } from './stormed-process.js';

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
