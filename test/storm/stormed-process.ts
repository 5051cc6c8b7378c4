import { Program } from '../integration/support/program.js';
import type { StormReport } from './storm-report.js';

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
