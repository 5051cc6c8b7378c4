// npm run benchmark -- NAME [--json], and scale [--quick], and held [N]
import { contention } from './contention.js';
import { decorator } from './decorator.js';
import { held } from './held.js';
import { printRows } from './row.js';
import { redis } from './redis.js';
import { scale } from './scale.js';
import { zookeeper } from './zookeeper.js';

const benchmarks = new Map(Object.entries({ contention, decorator, redis, zookeeper }));
const [name = '', ...flags] = process.argv.slice(2);
const benchmark = benchmarks.get(name);
const isJson = flags.includes('--json');
const known = name === 'scale' ? ['--json', '--quick'] : ['--json'];
if (name === 'held') {
  await held(Number(flags[0] ?? 1_000_000));
} else if (
  (benchmark === undefined && name !== 'scale') ||
  flags.some((flag) => !known.includes(flag))
) {
  const names = [...benchmarks.keys()].join('|');
  console.error(
    `Usage: npm run benchmark -- ${names} [--json], or scale [--json] [--quick], or held [N]`,
  );
  process.exitCode = 2;
} else if (benchmark === undefined) {
  await scale({ isJson, isQuick: flags.includes('--quick') });
} else {
  printRows(await benchmark(), isJson);
}
