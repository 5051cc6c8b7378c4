import { parseArgs } from 'node:util';
import type { LockModuleOptions } from 'nestjs-interlock';

const MAX_PORT = 65_535;

/** What the user asked for. */
export interface CommandLine {
  readonly locks: LockModuleOptions;
  /** How many processes sell tickets. */
  readonly processes: number;
  /** End after the comparison instead of serving the page. */
  readonly once: boolean;
  /** Port of the page. 0: any that is free. */
  readonly port: number;
}

/**
 * Reads the arguments, and `PORT` of the environment.
 *
 * @throws Error whose message is one line for the user
 */
export function parseCommandLine(args: string[], env: NodeJS.ProcessEnv): CommandLine {
  const { values } = parseArgs({
    args,
    options: {
      backend: { type: 'string', default: 'embedded' },
      connect: { type: 'string' },
      processes: { type: 'string', default: '1' },
      once: { type: 'boolean', default: false },
    },
  });
  const processes = wholeNumber('--processes', values.processes, 1, 64);
  const locks = lockOptions(values.backend, values.connect);
  if (locks.backend === 'embedded' && processes > 1)
    throw new Error(
      'the embedded backend locks inside one process: use --backend zookeeper or redis for more',
    );
  const port = wholeNumber('PORT', env.PORT ?? '3000', 0, MAX_PORT);
  return { locks, processes, once: values.once, port: values.once ? 0 : port };
}

function lockOptions(backend: string, connect?: string): LockModuleOptions {
  if (backend === 'embedded') {
    if (connect !== undefined) throw new Error('--connect goes with --backend zookeeper or redis');
    return { backend };
  }
  if (backend !== 'zookeeper' && backend !== 'redis')
    throw new Error(`--backend is "embedded", "zookeeper" or "redis", not "${backend}"`);
  const [, port] = /^\S+:(\d+)$/.exec(connect ?? '') ?? [];
  if (connect === undefined || !(Number(port) <= MAX_PORT))
    throw new Error(`--backend ${backend} needs --connect HOST:PORT`);
  const connectTimeout = 5_000;
  return backend === 'zookeeper'
    ? { backend, connect, connectTimeout }
    : { backend, connect: `redis://${connect}`, connectTimeout };
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Error(`${name} is a whole number from ${least} to ${most}, not "${text}"`);
}
