// Plants small bugs in `lib`, one at a time, and counts those that the tests catch: `npm run test:mutants`.
//
//   npm run test:mutants -- --count 20            20 mutants of each area
//   npm run test:mutants -- --area redis --seed 2 other ones, of one area
//   npm run test:mutants -- --only FILE:LINE      those at that place, as a survivor was printed
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AREAS, type Area } from './areas.js';
import { sampleMutants, type Mutant } from './mutants.js';

const { values } = parseArgs({
  options: {
    area: { type: 'string', multiple: true, default: Object.keys(AREAS) },
    count: { type: 'string', default: '30' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    copies: { type: 'string', default: '2' },
  },
});

/** How often a run with a mutant may take what it takes without, and how many ms more. */
const PATIENCE = { times: 3, more: 20_000 };
const SOURCES = [
  'lib',
  'test',
  'docs',
  'sample',
  'package.json',
  'jest.config.js',
  'tsconfig.json',
];

/** A copy of the project in which mutants are planted. */
class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutants-'));

  constructor() {
    for (const name of SOURCES)
      cpSync(name, join(this.folder, name), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
  }

  /** Whether the tests pass; a run that takes longer than `within` ms does not. */
  async passes(tests: readonly string[], within = Infinity): Promise<boolean> {
    const options = ['--silent', '--', '--maxWorkers=2', '--bail', '--testTimeout=10000'];
    const child = spawn('npm', ['test', ...options, ...tests], {
      cwd: this.folder,
      stdio: 'ignore',
      detached: true, // it and all that it starts can be ended together
    });
    const timer =
      within < Infinity && setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), within);
    const code = await new Promise((done) => child.once('exit', done));
    if (timer) clearTimeout(timer);
    return code === 0;
  }

  /** Runs `work` with that bug in the copy. */
  async with<T>({ file, start, end, text }: Mutant, work: () => Promise<T>): Promise<T> {
    const path = join(this.folder, file);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, whole.slice(0, start) + text + whole.slice(end));
    try {
      return await work();
    } finally {
      writeFileSync(path, whole);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** How long each stage of the tests of an area takes without a mutant, in ms. */
async function measure(copy: Copy, name: string, { tests }: Area): Promise<number[]> {
  const durations: number[] = [];
  for (const stage of tests) {
    const start = performance.now();
    if (!(await copy.passes(stage)))
      throw new Error(`${name}: ${stage.join(' ')} fails without a mutant`);
    durations.push(performance.now() - start);
  }
  return durations;
}

async function isCaught(copy: Copy, { tests }: Area, durations: readonly number[]) {
  for (const [i, stage] of tests.entries())
    if (!(await copy.passes(stage, durations[i]! * PATIENCE.times + PATIENCE.more))) return true;
  return false;
}

const copies = Array.from({ length: Number(values.copies) }, () => new Copy());
const total = { caught: 0, all: 0 };
for (const name of values.area) {
  const area = AREAS[name]!;
  const count = values.only ? Infinity : Number(values.count);
  const mutants = sampleMutants(area.lib, count, Number(values.seed)).filter(
    ({ file, line }) => !values.only || values.only === `${file}:${line}`,
  );
  if (mutants.length === 0) continue;
  const durations = await measure(copies[0]!, name, area);
  const left = [...mutants];
  const survivors: Mutant[] = [];
  const work = async (copy: Copy) => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const planted = mutant;
      const caught = await copy.with(planted, () => isCaught(copy, area, durations));
      if (!caught) survivors.push(planted);
      const { file, line, change } = planted;
      console.log(`${caught ? 'caught  ' : 'SURVIVED'} ${file}:${line}  ${change}`);
    }
  };
  await Promise.all(copies.map(work));
  const caught = mutants.length - survivors.length;
  console.log(`${name}: ${caught} of ${mutants.length} caught\n`);
  total.caught += caught;
  total.all += mutants.length;
}
for (const copy of copies) copy.remove();
const percent = ((100 * total.caught) / total.all).toFixed(1);
console.log(`mutation score: ${percent} % (${total.caught} of ${total.all}), seed ${values.seed}`);
