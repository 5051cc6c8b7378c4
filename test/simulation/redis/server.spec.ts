import { beforeEach, describe, expect, it } from '@jest/globals';
import { lockAcquire, lockRelease } from '../../../lib/redis/scripts/index.js';
import { LuaMachine } from '../../../lib/testing/redis/lua/lua-machine.js';
import { SimulatedServer } from '../../../lib/testing/redis/server/redis-server.js';
import type { ErrorReply, Reply } from '../../../lib/testing/redis/server/reply.js';
import { Session } from '../../../lib/testing/redis/server/session.js';

const machine = new LuaMachine();
const session = new Session();
let now: number;
let server: SimulatedServer;
const send = (...words: (string | number)[]): Reply => server.execute(session, words.map(String));
const script = (source: string, ...args: string[]) => send('eval', source, 0, ...args);
const errorOf = (reply: Reply) => (reply as ErrorReply).text;

beforeEach(() => {
  now = 1_700_000_000_000;
  server = new SimulatedServer(machine, () => now);
});

describe('The simulated server', () => {
  it('forgets a key in the ms after its end', () => {
    send('set', 'a', 1, 'px', 10);
    now += 10;
    expect(send('pttl', 'a')).toBe(0);
    now += 1;
    expect(send('pttl', 'a')).toBe(-2);
  });

  it('refuses on a full server what grows, in a script until it has written', () => {
    const acquire = ['a', 30_000, 'h', '{}', 1, 'gone'];
    send('config', 'set', 'maxmemory', 1);
    expect(errorOf(send('eval', lockAcquire.source, 1, ...acquire))).toMatch(/^OOM /);
    expect(send('eval', lockRelease.source, 1, 'a', 'h', 'publish', 'c', 'gone', '')).toBe(-1);
    expect(send('get', 'gone')).toBe('1');
  });

  it('refuses every write on a replica, and reads there', () => {
    send('set', 'a', 1);
    server.role = 'replica';
    expect(errorOf(send('del', 'a'))).toMatch(/^READONLY /);
    expect(errorOf(script('return redis.call("del", "a")'))).toMatch(/^READONLY /);
    expect(script('return redis.call("get", "a")')).toBe('1');
  });

  it.each(['busy', 'loading'] as const)('refuses everything while it is %s', (trouble) => {
    server.trouble = trouble;
    expect(errorOf(send('ping'))).toMatch(trouble === 'busy' ? /^BUSY / : /^LOADING /);
  });

  it('forgets its scripts when it is restarted, and its keys where they are not kept', () => {
    send('set', 'a', 1);
    send('eval', lockRelease.source, 0, '');
    server.restart(true);
    expect(errorOf(send('evalsha', lockRelease.sha1, 0, ''))).toMatch(/^NOSCRIPT /);
    expect(send('get', 'a')).toBe('1');
    server.restart(false);
    expect(send('get', 'a')).toBeNull();
  });

  it('names the keys that a command may have changed', () => {
    const changes: string[] = [];
    server.onChange = (_, keys) => changes.push(...keys);
    send('set', 'a', 1);
    send('get', 'a');
    script('redis.call("hset", "h", "f", 1) redis.call("del", "a")');
    expect(changes).toEqual(['a', 'h', 'a']);
  });
});

/** What the comparison with a real server has found. */
describe('As Redis does, the simulated server', () => {
  it('takes an end before the first character for the first', () => {
    send('set', 'a', 'xyz');
    expect(send('getrange', 'a', 0, -9)).toBe('x');
    expect(send('getrange', 'a', -8, -9)).toBe('');
  });

  it('adds numbers of 64 bits exactly', () => {
    send('set', 'a', -1);
    send('incrby', 'a', '9223372036854775807');
    expect(send('get', 'a')).toBe('9223372036854775806');
    expect(errorOf(send('incrby', 'a', 2))).toBe('ERR increment or decrement would overflow');
  });

  it('rounds a half to the even number, and casts what is too long to the least', () => {
    expect(script('return string.format("%.0f", 2.5) .. string.format("%.0f", 3.5)')).toBe('24');
    expect(script('return tonumber(ARGV[1])', '9223372036854775807')).toBe(-(2 ** 63));
  });

  it('has doubles only, which scripts write without a fraction where they are whole', () => {
    expect(script('return 2000000000 + tonumber("2000000000") .. ""')).toBe('4000000000');
    expect(script('return -ARGV[1] > 1', '-inf')).toBe(1);
    expect(script('return 7 / 2 .. " " .. 6 / 2 .. " " .. math.floor(6.5)')).toBe('3.5 3 6');
  });

  it('says in which line a script has failed', () => {
    send('set', 'a', 1);
    const { text } = script('\nreturn redis.call("hget", "a", "f")') as ErrorReply;
    expect(text).toMatch(/^WRONGTYPE .* script: [0-9a-f]{40}, on @user_script:2\.$/);
  });
});
