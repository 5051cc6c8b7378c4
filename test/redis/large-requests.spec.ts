import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import { useRedis } from '../support/fixtures.js';
import { eventually } from '../support/time.js';
import { useClients } from './support/clients.js';

const server = useRedis();
const { connected } = useClients();

/** More arguments than a call of a function may have. */
describe('Redis, asked for much at once,', () => {
  it('grants a multi-lock of 50,000 keys, lets work re-enter them, and has them all back', async () => {
    const [client, other] = [await connect(), await connect()];
    const all = Array.from({ length: 50_000 }, (_, i) => client.mutex(`part ${i}`));
    const lease = await client.multiLock(all).acquire();
    expect(await server().command('DBSIZE')).toBe(50_000);
    await lease.run(async () => await all[49_999]!.using(async () => {}));
    expect(await other.mutex('part 49999').tryAcquire()).toBeUndefined();
    await lease.release(); // which goes on in the background after a while
    const isFree = async () => (await server().command('DBSIZE')) === 0;
    await eventually('all of them are free', isFree, { within: 40_000 });
  }, 90_000);

  it('takes back a multi-lock of 5,000 keys, whose acquire was aborted on its way, by one command', async () => {
    const client = await connect();
    await (await client.mutex('another').acquire()).release(); // the server knows the scripts
    const all = client.multiLock(Array.from({ length: 5_000 }, (_, i) => client.mutex(`p ${i}`)));
    await server().command('CONFIG', 'RESETSTAT');
    const abort = new AbortController();
    const acquired = all.acquire({ signal: abort.signal });
    abort.abort();
    await expect(acquired).rejects.toThrow(LockAbortedError);
    await client.close();
    expect(await server().command('DBSIZE')).toBe(0);
    expect(String(await server().command('INFO', 'commandstats'))).toMatch(/evalsha:calls=2,/);
  });

  it('releases none of 150,000 permits that are not held', async () => {
    const ids = Array.from({ length: 150_000 }, () => randomBytes(16).toString('hex'));
    expect(await (await connect()).semaphore('seats', { permits: 5 }).tryRelease(ids)).toBe(false);
  }, 60_000);
});

const connect = () => connected({ connect: server().url });
