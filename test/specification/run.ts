// Checks the specifications in this folder by TLC, and that it refutes each of their mutants: `npm run test:specification`.
//
//   npm run test:specification -- KeptLease   one of them
//
// The comment at the top of NAME.tla lists its mutants, each with the property that must be violated.
import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A specification, or a way to break it with the property that is violated then. */
interface Case {
  readonly name: string;
  readonly mutant?: string;
  readonly violates?: string;
}

interface Verdict {
  readonly isAsExpected: boolean;
  readonly text: string;
}

const FOLDER = resolve('test/specification');
/** Number of cases that are checked at the same time, each by one thread: so TLC finds the shortest refutations. */
const LANES = 2;

const classPath = classPathOfTlc();
const scratch = mkdtempSync(join(tmpdir(), 'specification-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const wanted = process.argv.slice(2);
const cases = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.tla'))
  .map((file) => file.slice(0, -'.tla'.length))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .flatMap((name) => [{ name }, ...mutantsOf(name)]);

const verdicts: Verdict[] = [];
let [begun, reported] = [0, 0];
await Promise.all(Array.from({ length: LANES }, lane));
const passed = verdicts.filter(({ isAsExpected }) => isAsExpected).length;
console.log(`${passed} passed, ${cases.length - passed} failed`);
process.exitCode = passed > 0 && passed === cases.length ? 0 : 1;

async function lane(): Promise<void> {
  while (begun < cases.length) {
    const at = begun++;
    verdicts[at] = verdictOn(cases[at]!, await outputOfTlc(cases[at]!, at));
    for (; verdicts[reported]; reported += 1) report(cases[reported]!, verdicts[reported]!);
  }
}

function report({ name, mutant }: Case, { isAsExpected, text }: Verdict): void {
  const subject = mutant === undefined ? name : `${name}, "${mutant}"`;
  console.log(`${isAsExpected ? 'ok    ' : 'FAILED'} ${subject}: ${text}`);
}

/** Has Maven load TLC. */
function classPathOfTlc(): string {
  const file = join(FOLDER, 'target/classpath');
  const isNew = (built: string) => statSync(built).mtime > statSync(join(FOLDER, 'pom.xml')).mtime;
  if (existsSync(file) && isNew(file)) return readFileSync(file, 'utf8');
  const missing = ['java', 'mvn'].filter((tool) => spawnSync(tool, ['-version']).status !== 0);
  if (missing.length > 0) throw new Error(`The specifications need ${missing.join(' and ')}.`);
  const options = { cwd: FOLDER, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync('mvn', ['-q', '-B', 'compile'], options);
  if (status !== 0) throw new Error(stdout);
  return readFileSync(file, 'utf8');
}

function mutantsOf(name: string): Case[] {
  const [header = ''] = readFileSync(join(FOLDER, `${name}.tla`), 'utf8').split('*)', 1);
  const mutants = [...header.matchAll(/^ {4}"(.+)": (\w+)$/gm)];
  return mutants.map(([, mutant, violates]) => ({ name, mutant, violates }));
}

/** The settings of the specification; of a mutant it is only asked whether it violates that property. */
function settingsOf({ name, mutant, violates }: Case): string {
  const settings = readFileSync(join(FOLDER, `${name}.cfg`), 'utf8');
  if (mutant === undefined) return settings;
  return settings
    .replace('Mutant = "none"', `Mutant = "${mutant}"`)
    .replace(/^(INVARIANT|PROPERT)\w+ (.+)$/gm, (_, kind: string, properties: string) => {
      const isThere = properties.split(' ').includes(violates!);
      return isThere ? `${kind === 'PROPERT' ? 'PROPERTY' : kind} ${violates}` : '';
    });
}

function outputOfTlc(one: Case, at: number): Promise<string> {
  const config = join(scratch, `${at}.cfg`);
  writeFileSync(config, settingsOf(one));
  const java = ['-XX:+UseParallelGC', '-Xmx2g', '-cp', classPath, 'tlc2.TLC'];
  const files = ['-metadir', join(scratch, String(at)), '-config', config, `${one.name}.tla`];
  const options = { cwd: FOLDER, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    execFile('java', [...java, '-workers', '1', ...files], options, (_, stdout) => resolve(stdout));
  });
}

function verdictOn({ mutant, violates }: Case, output: string): Verdict {
  const states = /, (\d+) distinct states found, 0 states left/.exec(output)?.[1] ?? '0';
  const holds = output.includes('No error has been found') && states !== '0';
  if (mutant === undefined)
    return { isAsExpected: holds, text: holds ? `holds in ${states} distinct states` : output };
  const isRefuted = /(Invariant|property) \w+ is violated|properties were violated/.test(output);
  if (isRefuted) return { isAsExpected: true, text: `${violates} is violated: ${storyOf(output)}` };
  return {
    isAsExpected: false,
    text: holds ? `${violates} holds in ${states} distinct states` : output,
  };
}

/** The actions that led there. */
function storyOf(output: string): string {
  const steps = [...output.matchAll(/^State \d+: <(\w+)/gm)].map(([, action]) => action!);
  return steps.filter((action) => action !== 'Initial').join(', ');
}
