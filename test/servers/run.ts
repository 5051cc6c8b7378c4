// Runs suites against other Redis servers and prints a table: `npm run test:servers`.
//
//   npm run test:servers -- --server valkey-8.1 --client iovalkey   one of them, with another client
//   npm run test:servers -- --suite contract -- -t mutex            a part of it
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The columns: the test files of each. */
const SUITES: Readonly<Record<string, RegExp>> = {
  standalone: /^test\/contract\/redis\.servers\.spec/,
  cluster: /^test\/contract\/redis-cluster\.servers\.spec/,
  sentinel: /^test\/contract\/redis-sentinel\.servers\.spec/,
  RedLock: /^test\/contract\/red-lock\.servers\.spec/,
  faults: /^test\/faults\/redis\//,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: {
      type: 'string',
      multiple: true,
      default: ['6.2', '7.0', '8.0', '8.2', 'valkey-8.1', 'valkey-9.1'],
    },
    client: { type: 'string', multiple: true, default: ['ioredis'] },
    suite: { type: 'string', multiple: true, default: Object.keys(SUITES) },
  },
});

/** What Jest reports of a file. */
interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** The path of that server, fetched if it is not there yet, and the version that it says it has. */
function serverOf(name: string): { path: string; version: string } {
  const found = spawnSync('bash', ['test/support/redis-server-of.sh', name], { encoding: 'utf8' });
  if (found.status !== 0) throw new Error(found.stderr);
  const path = found.stdout.trim();
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  const [, kind = '', version = ''] = /^(\w+) server v=([\d.]+)/.exec(stdout) ?? [];
  return { path, version: `${kind} ${version}` };
}

/** Runs the suites, and reports of each of their files. */
async function reportsOf(path: string, client: string): Promise<FileReport[]> {
  const folder = mkdtempSync(join(tmpdir(), 'servers-'));
  const output = join(folder, 'report.json');
  const suites = values.suite.map((suite) => SUITES[suite]!.source.replace(/^\^/, ''));
  try {
    const args = ['test', '--', '--json', `--outputFile=${output}`, ...positionals, ...suites];
    const env = { ...process.env, REDIS_SERVER: path, REDIS_CLIENT: client };
    const stdio = ['ignore', 2, 2] as const; // the table alone is standard output
    const child = spawn('npm', args, { env, stdio: [...stdio] });
    await new Promise((done) => child.once('exit', done));
    const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as {
      testResults: FileReport[];
    };
    return testResults.map((file) => ({
      ...file,
      name: file.name.slice(process.cwd().length + 1),
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A cell of the table; a file that could not even run counts as one failure. */
function cellOf(reports: readonly FileReport[]): { text: string; failed: number } {
  const results = reports.flatMap(({ assertionResults }) => assertionResults);
  const passed = results.filter(({ status }) => status === 'passed').length;
  const broken = reports.filter((it) => it.status === 'failed' && it.assertionResults.length === 0);
  const failed = results.filter(({ status }) => status === 'failed').length + broken.length;
  const skipped = results.length - passed - failed + broken.length;
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return { text: parts.join(', '), failed };
}

let failures = 0;
const row = (...cells: string[]) => console.log(`| ${cells.join(' | ')} |`);
row('server', 'client', ...values.suite);
row(...['', '', ...values.suite].map(() => '---'));
for (const name of values.server) {
  const { path, version } = serverOf(name);
  for (const client of values.client) {
    const reports = await reportsOf(path, client);
    const cells = values.suite.map((suite) =>
      cellOf(reports.filter((report) => SUITES[suite]!.test(report.name))),
    );
    row(version, client, ...cells.map(({ text }) => text));
    failures += cells.reduce((sum, { failed }) => sum + failed, 0);
  }
}
process.exitCode = failures > 0 ? 1 : 0;
