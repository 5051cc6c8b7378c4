import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { Program } from '../support/program.js';

const KILLS = 20;

describe('A process under load, when its server is killed 20 times,', () => {
  let server: ZooKeeperServer;
  let program: Program;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    const url = new URL('../programs/kill-survivor.ts', import.meta.url);
    program = new Program(url, [server.connectString]);
  });
  afterAll(async () => {
    await program.stop();
    await server.stop();
  });

  it('survives, is notified of every interruption, keeps its session, and no foreign connection hangs', async () => {
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
    expect(await program.exited).toMatchObject({ code: 0, signal: null, errors: '' });
  }, 180_000);
});
