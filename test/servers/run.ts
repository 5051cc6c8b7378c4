// Runs suites against other servers and prints a table for Redis, and one for ZooKeeper: `npm run test:servers`.
//
//   npm run test:servers -- --server valkey-8.1 --client iovalkey   one of them, with another client
//   npm run test:servers -- --suite contract -- -t mutex            a part of it
//   npm run test:servers -- --server zookeeper-3.9
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

/** Servers that the same suites run against. */
interface Kind {
  readonly servers: readonly string[];
  /** The columns: the test files of each. Those of `interop` need Java and Maven. */
  readonly suites: Readonly<Record<string, RegExp>>;
  /** The environment of the tests for that server, and its name with the whole version. */
  readonly serve: (name: string, client: string) => { env: NodeJS.ProcessEnv; version: string };
}

const REDIS: Kind = {
  servers: ['6.2', '7.0', '8.0', '8.2', 'valkey-8.1', 'valkey-9.1'],
  suites: {
    standalone: /^test\/contract\/redis\.servers\.spec/,
    cluster: /^test\/contract\/redis-cluster\.servers\.spec/,
    sentinel: /^test\/contract\/redis-sentinel\.servers\.spec/,
    RedLock: /^test\/contract\/red-lock\.servers\.spec/,
    faults: /^test\/faults\/redis\//,
    differential: /^test\/simulation\/redis\/differential\.servers\.spec/,
    interop: /^test\/interop\/redis/,
  },
  serve(name, client) {
    const path = provided('redis-server-of.sh', name);
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    const [, product = '', version = ''] = /^(\w+) server v=([\d.]+)/.exec(stdout) ?? [];
    return { env: { REDIS_SERVER: path, REDIS_CLIENT: client }, version: `${product} ${version}` };
  },
};

/** Its suites by the native driver, then those by the driver `wire`; TLS and SASL are among the faults. */
const ZOOKEEPER: Kind = {
  servers: ['3.5', '3.6', '3.7', '3.8', '3.9'].map((version) => `zookeeper-${version}`),
  suites: {
    standalone: /^test\/contract\/zookeeper\.servers\.spec/,
    wire: /^test\/contract\/(zookeeper-wire|drivers)\.servers\.spec/,
    ensemble: /^test\/contract\/zookeeper-ensemble\.servers\.spec/,
    faults: /^test\/faults\/zookeeper\//,
    interop: /^test\/interop\/(curator|zookeeper)/,
  },
  serve(name) {
    const home = provided('zookeeper-home-of.sh', name.replace('zookeeper-', ''));
    return { env: { ZOOKEEPER_HOME: home }, version: `ZooKeeper ${basename(home)}` };
  },
};

const KINDS = [REDIS, ZOOKEEPER];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string', multiple: true, default: KINDS.flatMap(({ servers }) => servers) },
    client: { type: 'string', multiple: true, default: ['ioredis'] },
    suite: { type: 'string', multiple: true, default: [] },
  },
});

/** What Jest reports of a file. */
interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** What a script of `test/support` prints: the server, fetched if it is not there yet. */
function provided(script: string, name: string): string {
  const found = spawnSync('bash', [`test/support/${script}`, name], { encoding: 'utf8' });
  if (found.status !== 0) throw new Error(found.stderr);
  return found.stdout.trim();
}

/** Runs the suites, those with Java by their own script, and reports of each of their files. */
async function reportsOf(
  suites: readonly RegExp[],
  added: NodeJS.ProcessEnv,
): Promise<FileReport[]> {
  const isInterop = ({ source }: RegExp) => source.includes('interop');
  const others = suites.filter((suite) => !isInterop(suite));
  return [
    ...(await reportsOfScript('test', others, added)),
    ...(await reportsOfScript('test:interop', suites.filter(isInterop), added)),
  ];
}

async function reportsOfScript(
  script: string,
  suites: readonly RegExp[],
  added: NodeJS.ProcessEnv,
): Promise<FileReport[]> {
  if (suites.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), 'servers-'));
  const output = join(folder, 'report.json');
  const files = suites.map(({ source }) => source.replace(/^\^/, ''));
  try {
    const args = [
      'run',
      script,
      '--',
      '--json',
      `--outputFile=${output}`,
      ...positionals,
      ...files,
    ];
    const env = { ...process.env, ...added };
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

/** The server; `undefined`, and a word about it, where it cannot be had. */
function served(kind: Kind, name: string, client: string): ReturnType<Kind['serve']> | undefined {
  try {
    return kind.serve(name, client);
  } catch (error) {
    console.error(`${name} is skipped, as it cannot be had here: ${String(error)}`);
    row(name, client, 'skipped');
    return undefined;
  }
}

const row = (...cells: string[]) => console.log(`| ${cells.join(' | ')} |`);

/** Prints the table of a kind: a line for each server, and on Redis for each client. */
async function table(kind: Kind, clients: readonly string[]): Promise<void> {
  const servers = values.server.filter((name) => kind.servers.includes(name));
  const chosen = Object.keys(kind.suites).filter((suite) => values.suite.includes(suite));
  const names = values.suite.length > 0 ? chosen : Object.keys(kind.suites);
  if (servers.length === 0 || names.length === 0) return;
  row('server', 'client', ...names);
  row(...['', '', ...names].map(() => '---'));
  for (const name of servers) {
    for (const client of clients) {
      const server = served(kind, name, client);
      if (server === undefined) continue;
      const { env, version } = server;
      const suites = names.map((suite) => kind.suites[suite]!);
      const reports = await reportsOf(suites, env);
      const cells = suites.map((suite) => cellOf(reports.filter((it) => suite.test(it.name))));
      row(version, client, ...cells.map(({ text }) => text));
      failures += cells.reduce((sum, { failed }) => sum + failed, 0);
    }
  }
}

const unknown = values.server.filter((name) => !KINDS.some((it) => it.servers.includes(name)));
if (unknown.length > 0) throw new Error(`unknown servers: ${unknown.join(', ')}`);
await table(REDIS, values.client);
await table(ZOOKEEPER, ['native and wire']);
process.exitCode = failures > 0 ? 1 : 0;
