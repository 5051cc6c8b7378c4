import { expect, it } from '@jest/globals';
import {
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
} from '../../lib/core/errors/index.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';

/** A bound that no stall of this machine reaches, in ms. */
const PATIENCE = 20_000;

/** `ping()`. */
export function clientPingSuite(stage: () => LockStage): void {
  it('resolves to the time until the servers answer, and is not an acquire', async () => {
    const { mine } = stage();
    stage().freeze();
    const askedAt = performance.now();
    const answer = mine.locks.ping(PATIENCE);
    const sentAt = performance.now();
    expect(mine.locks.status().waiting).toBe(0);
    expect(mine.locks.activity()).toEqual([]);
    await eventually('a while has passed', () => performance.now() - sentAt > 100);
    stage().thaw();
    const took = await answer;
    expect(took).toBeGreaterThan(100);
    expect(took).toBeLessThanOrEqual(performance.now() - askedAt);
  });

  it('rejects when the servers do not answer in time, and resolves again when they do', async () => {
    const { mine } = stage();
    stage().freeze();
    const sentAt = performance.now();
    const error: unknown = await mine.locks.ping(300).catch((failure: unknown) => failure);
    const took = performance.now() - sentAt;
    stage().thaw();
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ client: 'contract', code: 'LOCK_CONNECTION' });
    expect((error as Error).message).toMatch(/^Lock client "contract" had no answer within 300 ms/);
    expect(took).toBeGreaterThanOrEqual(earliest(300));
    expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
  });

  it('rejects while the servers are away', async () => {
    const { mine } = stage();
    await stage().down();
    await expect(mine.locks.ping(300)).rejects.toBeInstanceOf(LockConnectionError);
    await stage().up();
    expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
  });

  it('rejects when the client is closed', async () => {
    const { mine } = stage();
    await mine.locks.close();
    await expect(mine.locks.ping()).rejects.toBeInstanceOf(LockClientClosedError);
  });

  it('rejects when the client closes meanwhile', async () => {
    const { mine } = stage();
    stage().freeze();
    const answer = mine.locks.ping(PATIENCE);
    const refused = expect(answer).rejects.toBeInstanceOf(LockClientClosedError);
    const closing = mine.locks.close();
    await refused.finally(() => stage().thaw());
    await closing;
  });

  it.each([0, -1, NaN, Infinity])('rejects a timeout of %d ms', async (timeout) => {
    const { mine } = stage();
    await expect(mine.locks.ping(timeout)).rejects.toBeInstanceOf(LockOptionsError);
  });
}
