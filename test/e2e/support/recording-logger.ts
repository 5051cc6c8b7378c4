import type { LoggerService } from '@nestjs/common';

/** Keeps what `LockModule` logs, as `level: message`. */
export class RecordingLogger implements LoggerService {
  readonly lines: string[] = [];
  readonly log = this.#recorder('log');
  readonly warn = this.#recorder('warn');
  readonly error = this.#recorder('error');
  readonly debug = this.#recorder('debug');
  readonly verbose = this.#recorder('verbose');

  #recorder(level: string) {
    return (message: unknown, ...rest: unknown[]) => {
      if (rest.at(-1) === 'LockModule') this.lines.push(`${level}: ${String(message)}`);
    };
  }
}
