import { describe, expect, it, jest } from '@jest/globals';
import type { LockEvents } from '../../../lib/core/lock-events.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';

const EVENT: LockEvents['contended'] = { recipe: 'mutex', key: 'door' };

describe('Events of a client', () => {
  it('reach every listener of that kind, at once', () => {
    const events = new LockEventEmitter();
    const heard: string[] = [];
    events.on('contended', ({ key }) => heard.push(`first: ${key}`));
    events.on('contended', ({ key }) => heard.push(`second: ${key}`));
    events.on('released', () => heard.push('never'));
    events.emit('contended', EVENT);
    expect(heard).toEqual(['first: door', 'second: door']);
  });

  it('reach a listener as often as it was added', () => {
    const events = new LockEventEmitter();
    let heard = 0;
    const listener = () => void (heard += 1);
    const stop = events.on('contended', listener);
    events.on('contended', listener);
    events.emit('contended', EVENT);
    stop();
    stop();
    events.emit('contended', EVENT);
    expect(heard).toBe(3);
  });

  it('reach the others although one of them throws, which is a warning', () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const events = new LockEventEmitter();
      let heard = 0;
      events.on('contended', () => {
        throw new Error('broken');
      });
      events.on('contended', () => void (heard += 1));
      events.emit('contended', EVENT);
      expect(heard).toBe(1);
      expect(warn).toHaveBeenCalledWith(expect.stringContaining('Error: broken'));
    } finally {
      warn.mockRestore();
    }
  });
});
