import { describe, expect, it } from '@jest/globals';
import { earliest } from '../../support/time.js';
import { useCleanup } from '../../support/fixtures.js';
import { freePorts } from '../../support/processes.js';
import { byTier } from '../../support/tier.js';
import { Program } from '../support/program.js';
import { useZooKeeperStage } from '../support/zookeeper-stage.js';

const CLEAN_EXIT = { code: 0, signal: null, errors: '' };
const KILLS = byTier({ quick: 2, standard: 2, long: 20 });

const cleanup = useCleanup(); // what it ends, ends before the clients are closed
const stage = useZooKeeperStage();

function start(name: string, args: readonly string[], nodeArgs?: readonly string[]): Program {
  const url = new URL(`../programs/${name}.ts`, import.meta.url);
  return cleanup(new Program(url, args, nodeArgs), (program) => program.stop());
}

/** A process with a lock client in one of the situations that the program knows. */
const inSituation = (situation: string, nodeArgs?: readonly string[]) =>
  start('zookeeper-client', [situation, stage.server.connectString, stage.key], nodeArgs);

describe('A process with a lock client', () => {
  describe('ends by itself', () => {
    it.each([
      ['', () => {}, []],
      [
        ' while the server hangs, which was abandoned for that',
        () => stage.server.freeze(),
        ['SUSPENDED'],
      ],
    ])(
      'when it has closed the client, which held a lock and waited for it,%s',
      async (_, strike, states) => {
        const program = inSituation('closing');
        expect(await program.next()).toBe('held');
        strike();
        for (const state of states) expect(await program.next()).toBe(state);
        program.tell('close');
        expect(await program.next()).toBe('CLOSED');
        expect(await program.next()).toEqual({ isHeld: false });
        expect(await program.exited).toMatchObject(CLEAN_EXIT);
      },
    );

    it('when the servers cannot be reached, after one error that says so', async () => {
      const [port] = await freePorts(1, '127.0.0.1');
      const program = start('zookeeper-client', ['unreachable', `127.0.0.1:${port}`]);
      const { isTyped, message, after } = await program.next<Record<string, unknown>>();
      expect(isTyped).toBe(true);
      expect(message).toMatch(
        /^Lock client "leaver" could not connect within 1000 ms \(127\.0\.0\.1:\d+: no connection, CONNECTIONLOSS \(-4\)\)\. Check/,
      );
      expect(after).toBeGreaterThanOrEqual(earliest(1_000));
      expect(after).toBeLessThan(2_000);
      expect(await program.exited).toMatchObject(CLEAN_EXIT);
    });
  });

  it('goes on with its timers when careless code asks a closed connection in a loop', async () => {
    const program = inSituation('spinning');
    expect(await program.next()).toBe('a timer fired');
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  });

  it('knows at once that its lease is gone when its event loop was blocked for longer than the session timeout', async () => {
    const program = inSituation('blocked');
    expect(await program.next()).toBe('held');
    program.tell('block');
    await stage.other.locks.mutex(stage.key).using(() => {}); // while the program is blocked
    expect(await program.next()).toEqual({ isHeld: false, isAborted: true, isLost: true });
  });

  it('is refused the native driver in worker threads, where it would take the process down', async () => {
    const program = start('worker-threads', [stage.server.connectString, 'native']);
    const refusal = {
      code: 'LOCK_CONNECTION',
      message: expect.stringContaining('main thread') as unknown,
    };
    expect(await program.next()).toEqual([refusal, refusal]);
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  });

  it('takes locks in worker threads by the wire driver', async () => {
    const program = start('worker-threads', [stage.server.connectString]);
    expect(await program.next()).toEqual([{ code: 'held' }, { code: 'held' }]);
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  });

  it('keeps nothing of a watch that has fired or was taken off', async () => {
    const program = inSituation('watching', ['--expose-gc']);
    const { perWatch } = await program.next<{ perWatch: number }>();
    expect(perWatch).toBeLessThan(1_000); // of the more than 8,000 that a watch which is kept would keep
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  });

  it(`survives under load when its server is killed ${KILLS} times, is notified of every interruption, keeps its session, and no foreign connection hangs`, async () => {
    const { server } = stage;
    const program = start('kill-survivor', [server.connectString]);
    for (let round = 0; round < KILLS; round++) {
      expect(await program.next()).toBe('loaded');
      await server.kill();
      expect(await program.next()).toBe('SUSPENDED');
      await server.restart();
      expect(await program.next()).toBe('RECONNECTED');
    }
    expect(await program.next()).toBe('loaded');
    program.tell('report');
    const report = await program.next<Record<'unanswered' | 'opened' | 'hung', number>>();
    expect(report.unanswered).toBeGreaterThan(KILLS);
    expect(report.opened).toBeGreaterThan(report.unanswered);
    expect(report.hung).toBe(0);
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  }, 180_000);
});
