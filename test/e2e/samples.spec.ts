import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { CopiedSamples } from './support/copied-samples.js';
import { runSample } from './support/run-sample.js';

const TIMEOUT = 90_000;
const BUILD_TIMEOUT = 180_000;

/** `npm run sample` */
const FROM_SOURCES = ['--import', './test/support/typescript-loader.mjs', 'sample/run.mjs'];

// The first one has a test of its own.
const names = readdirSync('sample').filter((name) => /^0[2-9]-/.test(name));

interface Manifest {
  name: string;
  version: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The line of the output that begins so. */
const lineOf = (stdout: string, start: string) =>
  stdout.split('\n').find((line) => line.startsWith(start)) ?? stdout;

describe('The sample', () => {
  let redis: RedisServer;
  let zooKeeper: ZooKeeperServer;
  let samples: CopiedSamples;

  beforeAll(async () => {
    samples = new CopiedSamples(names);
    await samples.build();
    redis = await RedisServer.start();
    zooKeeper = await ZooKeeperServer.start();
  }, BUILD_TIMEOUT);

  afterAll(async () => {
    await zooKeeper?.stop();
    await redis?.stop();
    samples?.remove();
  });

  const servers = () => ({ REDIS_URL: redis.url, ZOOKEEPER: zooKeeper.connectString });

  /** `npm start`, in the copy. */
  const run = (name: string, ...args: string[]) =>
    runSample(['dist/main.js', ...args], servers(), samples.of(name));

  it.each(names)('%s can be copied: it names what is tested here, and how to run it', (name) => {
    const { dependencies, devDependencies, scripts } = manifestOf(join('sample', name));
    const root = manifestOf('.');
    const tested = { ...root.devDependencies, [root.name]: root.version };
    expect(tested).toMatchObject({ ...dependencies, ...devDependencies });
    expect(scripts).toEqual({ build: 'tsc -p tsconfig.build.json', start: 'node dist/main.js' });
    const readme = readFileSync(join('sample', name, 'README.md'), 'utf8');
    expect(readme).toContain(
      `npm install ../${root.name}-${root.version}.tgz\nnpm run build\nnpm start`,
    );
  });

  it(
    '02 sends a digest from one of three replicas, except without the lock',
    async () => {
      const { stdout, stderr } = await run('02-cron-on-replicas', '--once');
      expect(stderr).toBe('');
      const ticks = [...stdout.matchAll(/^no lock: (\d) sent, .* @RunOnce: (\d) sent/gm)];
      const unlocked = ticks.map(([, count]) => Number(count));
      const locked = ticks.map(([, , count]) => Number(count));
      expect(ticks).toHaveLength(3);
      expect(Math.max(...unlocked)).toBe(3);
      expect(Math.max(...locked)).toBe(1); // a tick may find the name taken, where the one before came late
    },
    TIMEOUT,
  );

  it(
    '03 books every payment of a queue, except without the lock',
    async () => {
      const { stdout, stderr } = await run('03-queue-worker');
      expect(stderr).toBe('');
      expect(lineOf(stdout, 'no lock')).not.toContain('ann 10, bob 10, cid 10, dora 10');
      expect(lineOf(stdout, '@WithMutex')).toContain('ann 10, bob 10, cid 10, dora 10');
    },
    TIMEOUT,
  );

  it(
    '04 shows readers the whole cache, except without the locks',
    async () => {
      const { stdout, stderr } = await run('04-cache-rebuild');
      expect(stderr).toBe('');
      expect(lineOf(stdout, 'no lock')).toMatch(/ 40 reads, [1-9]\d* of them saw a part/);
      expect(lineOf(stdout, '@ReadLock, @WriteLock')).toContain(' 40 reads, 0 of them saw a part');
    },
    TIMEOUT,
  );

  it(
    '05 is never sent away by the partner, except without the semaphore',
    async () => {
      const { stdout, stderr } = await run('05-rate-limited-api');
      expect(stderr).toBe('');
      expect(lineOf(stdout, 'no lock')).toMatch(/, [1-9]\d* times "429/);
      expect(lineOf(stdout, '@Semaphore')).toContain(' 30 quotes, 0 times "429');
    },
    TIMEOUT,
  );

  it(
    '06 sells what there is and is paid for it, except without the locks',
    async () => {
      const { stdout, stderr } = await run('06-saga');
      expect(stderr).toBe('');
      expect(lineOf(stdout, 'no lock')).not.toContain(' 5 shipped, 0 left, 5 paid');
      expect(lineOf(stdout, '@WithMultiLock')).toContain(' 5 shipped, 0 left, 5 paid');
    },
    TIMEOUT,
  );

  it(
    'runs from its sources too, by its number',
    async () => {
      const { stdout, stderr } = await runSample([...FROM_SOURCES, '5'], servers());
      expect(stderr).toBe('');
      expect(lineOf(stdout, '@Semaphore')).toContain(' 30 quotes, 0 times "429');
    },
    TIMEOUT,
  );

  it.each(['1', 'paper', ''])('is asked for when "%s" names none', async (number) => {
    await expect(runSample([...FROM_SOURCES, number], {})).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Which sample? ${names.join(', ')}\n`,
    });
  });
});
