import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import {
  freePorts,
  startedOnFreePorts,
  TestServer,
  WatchedProcess,
} from '../../support/processes.js';
import { eventually } from '../../support/time.js';

const HOST = '127.0.0.1';
const FOLDER = resolve('test/databases/mongo-java');
const CLASS_PATH = `${FOLDER}/target/classpath`;

/** Has Maven load what the server needs; false, with a line that says why, where it cannot. */
export function hasMongoServer(): boolean {
  const missing = ['javac', 'mvn'].filter((tool) => spawnSync(tool, ['-version']).status !== 0);
  if (missing.length > 0) return leftOut(`no ${missing.join(', no ')} here`);
  spawnSync('mvn', ['-q', '-B', 'compile'], { cwd: FOLDER });
  return existsSync(CLASS_PATH) || leftOut('Maven cannot download what it needs');
}

function leftOut(why: string): false {
  process.stderr.write(`The recipe with Mongoose is LEFT OUT: ${why}\n`);
  return false;
}

/** A server in Java that speaks the protocol of MongoDB 5, as there is none of MongoDB in Debian. */
export class MongoServer extends TestServer {
  #databases = 0;

  private constructor(private readonly port: number) {
    super('mongo');
  }

  static async start(): Promise<MongoServer> {
    return startedOnFreePorts(
      async () => new MongoServer((await freePorts(1, HOST))[0]!),
      (server) => server.#start(),
    );
  }

  /** Resolves to the URL of an empty database. */
  async database(): Promise<string> {
    return `mongodb://${HOST}:${this.port}/database_${(this.#databases += 1)}`;
  }

  async #start(): Promise<void> {
    const program = ['-cp', readFileSync(CLASS_PATH, 'utf8'), `${FOLDER}/MongoServer.java`];
    this.process = new WatchedProcess('java', [...program, String(this.port)], this.folder);
    await eventually(
      'it listens',
      () => {
        if (!this.running) throw new Error(this.process!.log);
        return isListening(this.port);
      },
      { within: 20_000 },
    );
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST, () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
