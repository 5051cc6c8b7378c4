import { expect, it } from '@jest/globals';
import { ReturnCode, ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';

it('an answer of the servers is distinguished from a missing one', () => {
  const lost = ['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'SESSIONEXPIRED', 'CLOSING', 'SESSIONMOVED'];
  for (const [name, rc] of Object.entries(ReturnCode).filter(([, code]) => code <= -100)) {
    const error = new ZooKeeperError(rc, 'create', '/a');
    expect(error.code).toBe(name);
    expect([name, error.isConnectionLoss]).toEqual([name, lost.includes(name)]);
  }
});

it('its message says what was asked, what came, and whether it may have been done', () => {
  const refused = new ZooKeeperError(ReturnCode.NONODE, 'getData', '/a/b');
  expect(refused.message).toBe('getData /a/b: NONODE');
  expect(ZooKeeperError.is(refused, ReturnCode.NONODE)).toBe(true);
  expect(ZooKeeperError.is(refused, ReturnCode.NODEEXISTS)).toBe(false);
  expect(ZooKeeperError.is(new Error('NONODE'), ReturnCode.NONODE)).toBe(false);
  const lost = new ZooKeeperError(ReturnCode.CONNECTIONLOSS, 'create', '/a', true);
  expect(lost).toMatchObject({ name: 'ZooKeeperError', maybeDone: true, isConnectionLoss: true });
  expect(lost.message).toBe('create /a: CONNECTIONLOSS (it may have been carried out)');
  expect(new ZooKeeperError(-999, 'sync', '/').code).toBe('code -999');
});
