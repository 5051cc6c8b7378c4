import { closeSync, openSync, rmSync } from 'node:fs';

/** What a lock protects, across processes: a file that only one of them may have created. */
export class ExclusiveFile {
  /** How often another process was inside. */
  violations = 0;

  constructor(private readonly path: string) {}

  enter(): void {
    try {
      closeSync(openSync(this.path, 'wx'));
    } catch {
      this.violations += 1;
    }
  }

  leave(): void {
    rmSync(this.path, { force: true });
  }
}
