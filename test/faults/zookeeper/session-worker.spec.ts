import { describe, expect, it } from '@jest/globals';
import type { ZooKeeperLockOptions } from '../../../lib/zookeeper/zookeeper-options.js';
import { useCleanup, useZooKeeperEnsemble } from '../../support/fixtures.js';
import { freePorts } from '../../support/processes.js';
import { MovingAddress } from '../../support/proxies.js';
import { byTier } from '../../support/tier.js';
import { Program } from '../support/program.js';
import { useZooKeeperStage } from '../support/zookeeper-stage.js';

/** In the long tier as they would be in an app. In ms. */
const [SESSION, BLOCK] = byTier<[number, number]>({
  quick: [3_000, 5_000],
  standard: [3_000, 5_000],
  long: [30_000, 40_000],
});
const ROUNDS = byTier({ quick: 1, standard: 1, long: 2 });
const PATIENT = { renewalWorker: { maxStall: 2 * SESSION } };
/** How much later a machine may do anything, and the servers round up. */
const SLACK = 3_000;

interface Report {
  readonly lost: number;
  readonly threads: number;
  readonly session?: string;
}

const stage = useZooKeeperStage({ maxSessionTimeout: 60_000 });
const ensemble = useZooKeeperEnsemble({ maxSessionTimeout: 60_000 });

describe('A process that blocks its event loop for longer than its session', () => {
  const cleanup = useCleanup();

  async function start(options: Partial<ZooKeeperLockOptions> = PATIENT): Promise<Program> {
    const url = new URL('../programs/zookeeper-blocker.ts', import.meta.url);
    const { connectString: connect } = stage.server;
    const whole = { connect, sessionTimeout: SESSION, tickTime: 500, ...options };
    const program = cleanup(new Program(url, [JSON.stringify(whole), stage.key]), (each) =>
      each.stop(),
    );
    expect(await program.next()).toBe('held');
    return program;
  }

  /** Another client waits for its mutex. */
  async function queue(connect = stage.server.connectString) {
    const { locks } = await stage.connect(connect, { sessionTimeout: 20_000 });
    const taken = locks
      .mutex(`${stage.key}-mutex`)
      .acquire()
      .then(() => 'taken' as const);
    taken.catch(() => {}); // the test is over
    return { taken };
  }

  it.each<[string, () => Partial<ZooKeeperLockOptions>]>([
    ['by the native driver', () => ({ ...PATIENT, driver: 'native' })],
    ['by the wire driver', () => ({ ...PATIENT, driver: 'wire' })],
    ['on an ensemble', () => ({ ...PATIENT, connect: ensemble().connectString })],
  ])(
    'keeps its locks with a worker, %s',
    async (_, options) => {
      const holder = await start(options());
      const { taken } = await queue(options().connect);
      let sessions = new Set<string | undefined>();
      for (let round = 0; round < ROUNDS; round++) {
        holder.tell(`block ${BLOCK}`);
        const report = await Promise.race([holder.next<Report>(), taken]);
        expect(report).toMatchObject({ lost: 0, threads: 1 });
        sessions = sessions.add((report as Report).session);
      }
      expect(sessions.size).toBe(1);
      holder.tell('release');
      expect(await holder.next()).toBe('released');
      expect(await taken).toBe('taken');
      holder.tell('close');
      expect(await holder.next()).toBe('closed');
      expect(await holder.exited).toEqual({ code: 0, signal: null, errors: '' });
    },
    150_000,
  );

  it('loses them without a worker', async () => {
    const holder = await start({});
    const { taken } = await queue();
    holder.tell(`block ${BLOCK}`);
    const report = holder.next();
    expect(await Promise.race([report, taken])).toBe('taken');
    expect(await report).toMatchObject({ lost: 3, threads: 0 });
  }, 90_000);

  it('loses them when it has shown no sign of life for `maxStall`, a session later at most', async () => {
    const maxStall = 1.5 * SESSION;
    const holder = await start({ renewalWorker: { maxStall } });
    const { taken } = await queue();
    const before = performance.now();
    holder.tell(`block ${4 * SESSION}`);
    const report = holder.next();
    expect(await Promise.race([report, taken])).toBe('taken');
    const after = performance.now() - before;
    expect(after).toBeGreaterThan(maxStall);
    expect(after).toBeLessThan(maxStall + SESSION + SLACK);
    expect(await report).toMatchObject({ lost: 3, threads: 1 });
  }, 180_000);

  it('loses them when its worker has ended, of which one warning was given', async () => {
    const holder = await start();
    const { taken } = await queue();
    holder.tell('end');
    expect(await holder.next()).toBe('ended');
    holder.tell(`block ${BLOCK}`);
    const report = holder.next();
    expect(await Promise.race([report, taken])).toBe('taken');
    expect(await report).toMatchObject({ lost: 3 });
    holder.tell('close');
    const { code, errors } = await holder.exited;
    expect(code).toBe(0);
    expect(errors.match(/Warning: /g)).toHaveLength(1);
    expect(errors).toMatch(/thread that keeps the locks of client "blocker" .* has ended/);
  }, 120_000);

  it('loses them when its worker cannot connect, of which one warning is given', async () => {
    const address = cleanup(await MovingAddress.of(stage.server), (each) => each.stop());
    const holder = await start({ ...PATIENT, connect: `${address.host}:${address.port}` });
    const { taken } = await queue();
    const [port = 0] = await freePorts(1, address.host);
    address.moveTo({ host: address.host, port });
    holder.tell(`block ${BLOCK}`);
    const report = holder.next();
    expect(await Promise.race([report, taken])).toBe('taken');
    expect(await report).toMatchObject({ lost: 3 });
    address.moveTo(stage.server);
    holder.tell('close');
    const { code, errors } = await holder.exited;
    expect(code).toBe(0);
    expect(errors.match(/Warning: /g)).toHaveLength(1);
    expect(errors).toMatch(/client "blocker" .* could not connect to ZooKeeper \(.*\)\. Only/);
  }, 120_000);

  it('loses them within a session when it is killed', async () => {
    const holder = await start();
    const { taken } = await queue();
    const before = performance.now();
    await holder.stop();
    await taken;
    expect(performance.now() - before).toBeLessThan(SESSION + SLACK);
  }, 90_000);

  it('loses them when the whole process stands still, and its worker revives nothing', async () => {
    const holder = await start();
    const { taken } = await queue();
    holder.freeze();
    await taken;
    holder.thaw();
    holder.tell('look');
    expect(await holder.next()).toMatchObject({ lost: 3 });
    expect((await stage.other.children(`/locks/${stage.key}-mutex`)).length).toBe(1);
  }, 120_000);
});
