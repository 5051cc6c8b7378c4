// Brings defects back that were mended, one at a time, and expects the tests of each to fail: `npm run test:regressions`.
//
//   npm run test:regressions -- inspector    those whose text or file has the word in it
import { planted, REGRESSIONS, type Regression } from './regressions.js';
import { ProjectCopy, testing } from './project-copy.js';

/** How long the tests of one may take, in ms: some defects are a hang. */
const PATIENCE = 400_000;

const [word = ''] = process.argv.slice(2);
const chosen = REGRESSIONS.filter(({ defect, file }) => `${defect} ${file}`.includes(word));
const commandOf = ({ tests }: Regression) =>
  tests.length > 0 ? testing(...tests) : ['run', 'check:package'];

const copy = new ProjectCopy();
const commands = new Set(chosen.map((each) => JSON.stringify(commandOf(each))));
for (const command of commands)
  if (!(await copy.passes(JSON.parse(command) as string[])))
    throw new Error(`npm ${command} fails as it is`);

let caught = 0;
for (const each of chosen) {
  const { file, defect } = each;
  const plant = (text: string) => planted(each, text);
  const failed = await copy.with(
    file,
    plant,
    async () => !(await copy.passes(commandOf(each), PATIENCE)),
  );
  if (failed) caught += 1;
  console.log(`${failed ? 'caught  ' : 'SURVIVED'} ${file}: ${defect}`);
}
copy.remove();
console.log(`${caught} of ${chosen.length} regressions caught`);
if (caught < chosen.length) process.exitCode = 1;
