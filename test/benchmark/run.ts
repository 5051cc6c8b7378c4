// npm run benchmark -- NAME [--json]
import { decorator } from './decorator.js';
import { printRows } from './row.js';
import { redis } from './redis.js';
import { zookeeper } from './zookeeper.js';

const benchmarks = new Map(Object.entries({ decorator, redis, zookeeper }));
const [name = '', ...flags] = process.argv.slice(2);
const benchmark = benchmarks.get(name);
if (benchmark === undefined || flags.some((flag) => flag !== '--json')) {
  console.error(`Usage: npm run benchmark -- ${[...benchmarks.keys()].join('|')} [--json]`);
  process.exitCode = 2;
} else {
  printRows(await benchmark(), flags.includes('--json'));
}
