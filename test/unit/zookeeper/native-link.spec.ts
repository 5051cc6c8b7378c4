import { beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NativeHandle } from '../../../lib/zookeeper/connection/native-handle.js';
import { NativeLink } from '../../../lib/zookeeper/connection/native-link.js';

/** A driver object of which the test plays the driver. */
class PlayedHandle {
  state = 999; // connecting
  failure?: Error;
  readonly calls: string[] = [];
  declare emit: NativeHandle['emit'];

  init(): unknown {
    this.calls.push('init');
    return this.failure;
  }

  a_exists(): number {
    this.calls.push('a_exists');
    return 0;
  }

  close(): void {
    this.calls.push('close');
  }
}

describe('A link by the native driver', () => {
  let handle: PlayedHandle;
  let events: string[];
  let link: NativeLink;

  beforeEach(() => {
    handle = new PlayedHandle();
    events = [];
    const listener = {
      onProgress: () => void events.push('step'),
      onConnected: () => void events.push('connected'),
      onDisconnected: (reason: string) => void events.push(reason),
      onExpired: () => void events.push('expired'),
      onWatch: () => {},
    };
    link = new NativeLink(handle as unknown as NativeHandle, listener, () => events.push('closed'));
  });

  const open = () =>
    link.open({ address: { host: '127.0.0.1', port: 2181 }, sessionTimeout: 10_000, auth: [] });

  it('reports as a step that the servers have accepted its session, unless it was given up', () => {
    open();
    handle.emit('connect', handle);
    expect(events).toEqual(['step']);
    link.detach(undefined);
    handle.emit('connect', handle);
    expect(events).toEqual(['step', 'closed']);
  });

  it('says in a later turn why it could not begin, once, and asks for nothing', async () => {
    handle.failure = new Error('no such address');
    open();
    expect([handle.calls, events]).toEqual([['init', 'close'], ['closed']]);
    await nextTurn();
    await nextTurn();
    expect(events).toEqual(['closed', 'no such address']);
  });
});
