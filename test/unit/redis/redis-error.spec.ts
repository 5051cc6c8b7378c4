import { describe, expect, it } from '@jest/globals';
import { LockConnectionError, LockKeyError } from '../../../lib/core/errors/index.js';
import {
  isNoScript,
  isOtherType,
  isPassing,
  isReadOnly,
  isRefusal,
  lockErrorOf,
} from '../../../lib/redis/connection/redis-error.js';

const ABOUT = { key: 'orders', client: 'unit' };
const OPEN = { hasEnded: false };

/** As ioredis reports an answer of the server. */
function reply(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

describe('An answer of a server', () => {
  it.each([
    'LOADING Redis is loading the dataset in memory',
    "READONLY You can't write against a read only replica.",
    'CLUSTERDOWN The cluster is down',
    'CLUSTERDOWN Hash slot not served',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'NOREPLICAS Not enough good replicas to write.',
    'BUSY Redis is busy running a script.',
    'MISCONF Redis is configured to save RDB snapshots',
    "OOM command not allowed when used memory > 'maxmemory'.",
    "ERR Error running script (call to f_9f0a2b): @user_script:12: @user_script: 12: -READONLY You can't write",
    "ERR Error running script (call to f_9f0a2b): @user_script:3: @user_script: 3: -OOM command not allowed when used memory > 'maxmemory'.",
    'ERR Error running script (call to f_9f0a2b): @user_script: 3: -NOREPLICAS Not enough good replicas to write.',
  ])('may be another one in a moment: %s', (message) => {
    expect(isPassing(reply(message))).toBe(true);
  });

  it.each([
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    "NOPERM this user has no permissions to run the 'evalsha' command",
    'NOAUTH Authentication required.',
    'ERR unknown command',
    'CROSSSLOT Keys in request do not hash to the same slot',
    'MOVED 3999 127.0.0.1:6381',
    'ASK 3999 127.0.0.1:6381',
    'ERR Error running script (call to f_9f0a2b): @user_script:3: WRONGTYPE Operation against a key',
    'LOCKKIND a mutex',
    'BUSYKEY Target key name already exists.',
  ])('stays: %s', (message) => {
    expect(isPassing(reply(message))).toBe(false);
  });

  it.each([
    'Connection is closed.',
    'Command timed out',
    "Stream isn't writeable and enableOfflineQueue options is false",
    'Reached the max retries per request limit (which is 20).',
    'Cluster is ended.',
  ])('that did not come, for "%s", may come in a moment', (message) => {
    expect(isPassing(new Error(message))).toBe(true);
  });

  it.each([
    "READONLY You can't write against a read only replica.",
    "ERR Error running script (call to f_9f0a2b): @user_script:12: @user_script: 12: -READONLY You can't write",
  ])('is recognised as that of a replica: %s', (message) => {
    expect([isReadOnly(reply(message)), isRefusal(reply(message))]).toEqual([true, true]);
  });

  it('is a refusal, also where a Cluster has asked often enough', () => {
    const because = (reason: string) =>
      new Error(`Too many Cluster redirections. Last error: ReplyError: ${reason}`);
    expect(isRefusal(because('CLUSTERDOWN The cluster is down'))).toBe(true);
    expect(isRefusal(because('MOVED 3999 127.0.0.1:6381'))).toBe(false);
    expect(isRefusal(new Error('READONLY, says somebody else'))).toBe(false);
  });

  it.each([
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'NOAUTH',
    'LOCKKIND a mutex',
  ])('is no refusal of all scripts: %s', (message) => {
    expect(isRefusal(reply(message))).toBe(false);
  });

  it.each(['MOVED 3999 127.0.0.1:6381', 'ASK 3999 127.0.0.1:6381', 'CROSSSLOT Keys in request'])(
    'of a cluster to a client that is not made for one says what to do: %s',
    (message) => {
      const error = lockErrorOf(reply(message), ABOUT, OPEN);
      expect(error).toBeInstanceOf(LockConnectionError);
      expect(error.message).toContain(message);
      expect(error.message).toContain('node of a cluster');
      expect(error.message).toContain('option `cluster`');
    },
  );

  it('of a server that refuses keys which are not declared says what to do', () => {
    const script = 'ERR Error running script (call to f_5c4d): @user_script:12: ';
    const cause = reply(`${script}script tried accessing undeclared key, key: {seats}:a:1`);
    const error = lockErrorOf(cause, ABOUT, OPEN);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ ...ABOUT, cause });
    expect(error.message).toContain('read/write locks need that');
    expect(error.message).toContain('allow-undeclared-keys');
  });

  it('is recognised when it is about an unknown script', () => {
    const message = 'NOSCRIPT No matching script. Please use EVAL.';
    expect([isNoScript(reply(message)), isNoScript(new Error(message))]).toEqual([true, false]);
  });

  it.each([
    ['LOCKKIND a mutex', /on the server it is a mutex already/],
    ['WRONGTYPE Operation against a key', /something other than a lock/],
  ])('about the key is an error of the key (%s)', (message, why) => {
    const cause = reply(message);
    const error = lockErrorOf(cause, ABOUT, OPEN);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toMatchObject({ ...ABOUT, cause });
    expect(error.message).toMatch(why);
  });

  it('of another kind is reported without the place in our script', () => {
    const sha1 = 'e8cc1b6974c0ff8e618f983f87b6b650f7e53b22';
    const cause = reply(`ERR no such thing script: ${sha1}, on @user_script:7.`);
    const error = lockErrorOf(cause, ABOUT, OPEN);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ ...ABOUT, cause });
    expect(error.message).toMatch(
      /^Redis refused a command of the lock: ERR no such thing\. Check/,
    );
  });

  it('of Redis 6.2 is reported without the place in our script, too', () => {
    const cause = reply(
      'ERR Error running script (call to f_e8cc1b6974c0ff8e618f983f87b6b650f7e53b22): @user_script:7: @user_script: 7: -NOSPACE left',
    );
    expect(lockErrorOf(cause, ABOUT, OPEN).message).toContain('of the lock: NOSPACE left. Check');
    const inside = (answer: string) =>
      reply(`ERR Error running script (call to f_e8cc): @user_script:7: ${answer}`);
    expect(lockErrorOf(inside('WRONGTYPE Operation'), ABOUT, OPEN)).toBeInstanceOf(LockKeyError);
    expect(isOtherType(inside('-WRONGTYPE Operation'))).toBe(true);
  });

  it("that is none stays the user's, or ioredis', own error", () => {
    const error = new Error('Connection is closed.');
    expect(lockErrorOf(error, ABOUT, OPEN)).toBe(error);
  });

  it('that the connection has ended names the client and the key', () => {
    const cause = new Error('Connection is closed.');
    const error = lockErrorOf(cause, ABOUT, { hasEnded: true });
    expect(error).toBeInstanceOf(LockConnectionError);
    const message = expect.stringContaining('"unit" was closed before the server answered for "o');
    expect(error).toMatchObject({ ...ABOUT, message, cause });
  });
});
