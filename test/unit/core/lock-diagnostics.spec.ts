import { afterEach, describe, expect, it } from '@jest/globals';
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { LockEvents } from '../../../lib/core/lock-events.js';

const DOOR = { recipe: 'mutex', key: 'door', method: 'House.enter' } as const;

/** One of each kind. */
const EVENTS: LockEvents = {
  contended: DOOR,
  acquired: { ...DOOR, waitedMs: 3 },
  released: { ...DOOR, heldMs: 7 },
  lost: { ...DOOR, heldMs: 5, error: new LockLostError('the session is over') },
  failed: { ...DOOR, waitedMs: 2, error: new Error('no') },
  connection: { state: 'SUSPENDED', reason: 'no answer', server: 2 },
};

const cleanUps: (() => void)[] = [];
afterEach(() => cleanUps.splice(0).forEach((clean) => clean()));

/** Subscribes for the length of one test. */
function listenTo(event: keyof LockEvents): unknown[] {
  const heard: unknown[] = [];
  const listener = (message: unknown) => void heard.push(message);
  subscribe(`nestjs-interlock:${event}`, listener);
  cleanUps.push(() => void unsubscribe(`nestjs-interlock:${event}`, listener));
  return heard;
}

describe('The diagnostics channels of the process', () => {
  it.each(Object.entries(EVENTS) as [keyof LockEvents, LockEvents[keyof LockEvents]][])(
    'report for "%s" what the client emits, and the name of the client',
    (event, value) => {
      const heard = listenTo(event);
      new LockEventEmitter('orders').emit(event, value);
      new LockEventEmitter('stock').emit(event, value);
      expect(heard).toEqual([
        { client: 'orders', ...value },
        { client: 'stock', ...value },
      ]);
    },
  );

  it('report nothing of the parts of a client', () => {
    const heard = listenTo('acquired');
    new LockEventEmitter().emit('acquired', EVENTS.acquired);
    expect(heard).toEqual([]);
  });

  it('make no message where there is no subscriber', () => {
    listenTo('released');
    expect(channel('nestjs-interlock:acquired').hasSubscribers).toBe(false);
    const unread = {
      ...EVENTS.acquired,
      get key(): string {
        throw new Error('was read');
      },
    };
    expect(() => new LockEventEmitter('orders').emit('acquired', unread)).not.toThrow();
    listenTo('acquired');
    expect(() => new LockEventEmitter('orders').emit('acquired', unread)).toThrow('was read');
  });
});
