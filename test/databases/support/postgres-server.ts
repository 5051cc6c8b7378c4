import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import {
  freePorts,
  startedOnFreePorts,
  TestServer,
  WatchedProcess,
} from '../../support/processes.js';
import { eventually } from '../../support/time.js';

const HOST = '127.0.0.1';
const USER = 'postgres';
/** Where Debian puts the programs of each version. */
const VERSIONS = '/usr/lib/postgresql';

/** A PostgreSQL server on loopback. It does not wait for the disk: nothing has to outlive it. */
export class PostgresServer extends TestServer {
  #databases = 0;

  private constructor(private readonly port: number) {
    super('postgres');
  }

  static async start(): Promise<PostgresServer> {
    return startedOnFreePorts(
      async () => new PostgresServer((await freePorts(1, HOST))[0]!),
      (server) => server.#start(),
    );
  }

  /** Makes an empty database. Resolves to its URL. */
  async database(): Promise<string> {
    const name = `database_${(this.#databases += 1)}`;
    await this.#query(`CREATE DATABASE ${name}`);
    return this.#url(name);
  }

  async #start(): Promise<void> {
    const data = join(this.folder, 'data');
    const [program, ...rest] = asUser(this.folder);
    const initdb = [...rest, programOf('initdb'), '-D', data, '-U', USER, '-A', 'trust', '-N'];
    execFileSync(program!, initdb, { stdio: 'pipe' });
    const settings = { listen_addresses: HOST, port: this.port, fsync: 'off' };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const postgres = [...rest, programOf('postgres'), '-D', data, '-k', this.folder, ...options];
    this.process = new WatchedProcess(program!, postgres, this.folder);
    await eventually('PostgreSQL answers', async () => {
      if (!this.running) throw new Error(this.process!.log);
      await this.#query('SELECT 1');
      return true;
    });
  }

  async #query(text: string): Promise<void> {
    const client = new pg.Client(this.#url(USER));
    await client.connect();
    await client.query(text);
    await client.end();
  }

  #url(database: string): string {
    return `postgres://${USER}@${HOST}:${this.port}/${database}`;
  }
}

/** PostgreSQL refuses to run as root: as which user it runs then, with that folder as its own. */
function asUser(folder: string): string[] {
  if (process.getuid?.() !== 0) return ['env'];
  const idOf = (what: '-u' | '-g') =>
    Number(execFileSync('id', [what, USER], { encoding: 'utf8' }));
  chownSync(folder, idOf('-u'), idOf('-g'));
  return ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
}

function programOf(name: string): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort().reverse() : [];
  const paths = versions.map((version) => `${VERSIONS}/${version}/bin/${name}`);
  return paths.find((path) => existsSync(path)) ?? name;
}

/** Starts a server; `undefined` where the tests cannot: then they are skipped, but fail in CI. */
export const startPostgres = hasPostgres() ? PostgresServer.start : undefined;

function hasPostgres(): boolean {
  if (process.env.CI === 'true' || spawnSync(programOf('postgres'), ['--version']).status === 0)
    return true;
  process.stderr.write('The recipes on PostgreSQL are LEFT OUT: there is none here\n');
  return false;
}
