import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { earliest } from '../../support/earliest.js';
import { freePorts } from '../../support/free-ports.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { Program } from '../support/program.js';
import { TestClient } from '../support/test-client.js';

const CLEAN_EXIT = { code: 0, signal: null, errors: '' };

describe('A process with a lock client', () => {
  let server: ZooKeeperServer;
  const programs: Program[] = [];

  function start(name: string, args: readonly string[], nodeArgs?: readonly string[]): Program {
    const url = new URL(`../programs/${name}.ts`, import.meta.url);
    const program = new Program(url, args, nodeArgs);
    programs.push(program);
    return program;
  }

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
  });
  afterEach(async () => {
    server.thaw();
    await Promise.all(programs.splice(0).map((program) => program.stop()));
  });
  afterAll(() => server.stop());

  describe('ends by itself', () => {
    it('when it has closed the client, which held a lock and waited for it', async () => {
      const program = start('leaver', ['closing', server.connectString]);
      expect(await program.next()).toBe('held');
      program.tell('close');
      expect(await program.next()).toBe('CLOSED');
      expect(await program.next()).toEqual({ isHeld: false });
      expect(await program.exited).toMatchObject(CLEAN_EXIT);
    });

    it('when it has closed the client while the server hangs, which was abandoned for that', async () => {
      const program = start('leaver', ['closing', server.connectString]);
      expect(await program.next()).toBe('held');
      server.freeze();
      expect(await program.next()).toBe('SUSPENDED');
      program.tell('close');
      expect(await program.next()).toBe('CLOSED');
      expect(await program.next()).toEqual({ isHeld: false });
      expect(await program.exited).toMatchObject(CLEAN_EXIT);
    });

    it('when the servers cannot be reached, after one error that says so', async () => {
      const [port] = await freePorts(1, '127.0.0.1');
      const program = start('leaver', ['unreachable', `127.0.0.1:${port}`]);
      const { isTyped, message, after } = await program.next<Record<string, unknown>>();
      expect(isTyped).toBe(true);
      expect(message).toMatch(
        /^Lock client "leaver" could not connect within 1000 ms \(127\.0\.0\.1:\d+: no connection, -4\)\. Check/,
      );
      expect(after).toBeGreaterThanOrEqual(earliest(1_000));
      expect(after).toBeLessThan(2_000);
      expect(await program.exited).toMatchObject(CLEAN_EXIT);
    });
  });

  it('goes on with its timers when careless code asks a closed connection in a loop', async () => {
    const program = start('spinner', [server.connectString]);
    expect(await program.next()).toBe('a timer fired');
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  });

  it('knows at once that its lease is gone when its event loop was blocked for longer than the session timeout', async () => {
    const other = await TestClient.connect(server.connectString);
    const program = start('blocked-holder', [server.connectString, 'blocked', '2000']);
    expect(await program.next()).toBe('held');
    program.tell('block');
    await (await other.locks.mutex('blocked').acquire()).release(); // while the program is blocked
    expect(await program.next()).toEqual({ isHeld: false, isAborted: true, isLost: true });
    await other.locks.close();
  });

  it('is refused the driver in worker threads, where it would take the process down', async () => {
    const program = start('worker-threads', [server.connectString]);
    const refusal = {
      code: 'LOCK_CONNECTION',
      message: expect.stringContaining('main thread') as unknown,
    };
    expect(await program.next()).toEqual([refusal, refusal]);
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  });

  it('keeps nothing of a watch that has fired or was taken off', async () => {
    const program = start('watch-counter', [server.connectString], ['--expose-gc']);
    const { perWatch } = await program.next<{ perWatch: number }>();
    expect(perWatch).toBeLessThan(50); // the driver's own watchers kept more than 800
    expect(await program.exited).toMatchObject(CLEAN_EXIT);
  });
});
