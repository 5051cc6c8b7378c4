// Plants small bugs in `lib`, one at a time, and counts those that the tests catch: `npm run test:mutants`.
//
//   npm run test:mutants -- --count 20            20 mutants of each area
//   npm run test:mutants -- --area redis --seed 2 other ones, of one area
//   npm run test:mutants -- --only FILE:LINE      those at that place, as a survivor was printed
import { parseArgs } from 'node:util';
import { AREAS, type Area } from './areas.js';
import { sampleMutants, type Mutant } from './mutants.js';
import { ProjectCopy, testing } from './project-copy.js';

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

/** How long each stage of the tests of an area takes without a mutant, in ms. */
async function measure(copy: ProjectCopy, name: string, { tests }: Area): Promise<number[]> {
  const durations: number[] = [];
  for (const stage of tests) {
    const start = performance.now();
    if (!(await copy.passes(testing(...stage))))
      throw new Error(`${name}: ${stage.join(' ')} fails without a mutant`);
    durations.push(performance.now() - start);
  }
  return durations;
}

async function isCaught(copy: ProjectCopy, { tests }: Area, durations: readonly number[]) {
  for (const [i, stage] of tests.entries())
    if (!(await copy.passes(testing(...stage), durations[i]! * PATIENCE.times + PATIENCE.more)))
      return true;
  return false;
}

const copies = Array.from({ length: Number(values.copies) }, () => new ProjectCopy());
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
  const work = async (copy: ProjectCopy) => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const planted = mutant;
      const { file, start, end, text } = planted;
      const plant = (whole: string) => whole.slice(0, start) + text + whole.slice(end);
      const caught = await copy.with(file, plant, () => isCaught(copy, area, durations));
      if (!caught) survivors.push(planted);
      const { line, change } = planted;
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
