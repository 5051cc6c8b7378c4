import { inspect } from 'node:util';
import { expect, jest } from '@jest/globals';
import type { LoggerService } from '@nestjs/common';

/** The password that nothing may show. */
export const SECRET = 's3cret';

/** Keeps everything that is logged, in every context, as a logger would write it that follows all fields of an error. */
export class FullLogger implements LoggerService {
  readonly lines: string[] = [];
  readonly log = this.#recorder();
  readonly warn = this.#recorder();
  readonly error = this.#recorder();
  readonly debug = this.#recorder();
  readonly verbose = this.#recorder();
  readonly fatal = this.#recorder();

  #recorder() {
    return (...args: unknown[]) => void this.lines.push(args.map(writtenOut).join(' '));
  }
}

/** Everything that loggers and error trackers write down of a value. */
export function writtenOut(value: unknown): string {
  const { message, stack, cause } = Object(value) as Error;
  const json = JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
  const whole = inspect(value, { depth: null, showHidden: true });
  const inner = cause === undefined ? '' : writtenOut(cause);
  return [String(value), message, stack, json, whole, inner].join('\n');
}

/** Records what goes to the console and to the warnings of the process while `work` runs, and returns it. */
export async function printedBy(work: () => Promise<unknown>): Promise<string[]> {
  const printed: string[] = [];
  const record = (...args: unknown[]) => void printed.push(args.map(writtenOut).join(' '));
  process.on('warning', record);
  const methods = ['log', 'warn', 'error', 'info', 'debug'] as const;
  const spies = methods.map((method) => jest.spyOn(console, method).mockImplementation(record));
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.off('warning', record);
  }
  return printed;
}

/** Expects that the secret is in none of them, as it is or percent-encoded. */
export function expectNoSecret(...texts: readonly string[]): void {
  const line = texts
    .join('\n')
    .split('\n')
    .find((each) => each.includes(SECRET));
  expect(line).toBeUndefined();
}
