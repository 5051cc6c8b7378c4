import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventStream } from '../../../lib/inspector/event-stream.js';

/** A response whose connection takes what is written, or not. */
class FakeResponse extends EventEmitter {
  readonly req = { method: 'GET' };
  readonly events: string[] = [];
  isFull = false;
  isEnded = false;
  isDestroyed = false;
  headers: object = {};

  getHeaders = () => ({ 'x-frame-options': 'DENY' });
  setTimeout = () => {};
  flushHeaders = () => {};
  writeHead = (_: number, headers: object) => void (this.headers = headers);
  end = () => void (this.isEnded = true);
  destroy = () => {
    this.isDestroyed = true;
    this.emit('close');
  };
  write = (text: string) => {
    this.events.push(.../(?<=^data: ).*$/m.exec(text)!);
    return !this.isFull;
  };

  /** Those of snapshots. */
  get snapshots(): string[] {
    return this.events.filter((event) => /^[a-z]$/.test(event));
  }
}

describe('The stream to a watcher', () => {
  let response: FakeResponse;
  let stream: EventStream;
  const closed = jest.fn();

  beforeEach(() => {
    jest.useFakeTimers();
    response = new FakeResponse();
    stream = new EventStream(response as never, closed);
  });
  afterEach(() => {
    response.emit('close');
    jest.useRealTimers();
    closed.mockClear();
  });

  it('has the headers that others have set, and its own', () => {
    const type = 'text/event-stream; charset=utf-8';
    expect(response.headers).toMatchObject({ 'x-frame-options': 'DENY', 'Content-Type': type });
  });

  it('queues nothing for one who does not read, and then sends the latest only', () => {
    stream.send('a');
    response.isFull = true;
    stream.send('b');
    const { length } = response.events;
    for (const snapshot of ['c', 'd', 'e']) stream.send(snapshot);
    jest.advanceTimersByTime(20_000); // no pings either
    expect(response.events).toHaveLength(length);

    response.isFull = false;
    response.emit('drain');
    expect(response.snapshots).toEqual(['a', 'b', 'e']);
    stream.send('f');
    expect(response.snapshots).toEqual(['a', 'b', 'e', 'f']);
  });

  it('ends for one who has not read for half a minute, who takes the place of another', () => {
    response.isFull = true;
    stream.send('a');
    jest.advanceTimersByTime(29_000);
    expect(response.isDestroyed).toBe(false);
    jest.advanceTimersByTime(2_000);
    expect(response.isDestroyed).toBe(true);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  it('keeps the server from closing for nobody', () => {
    stream.end();
    expect([response.isEnded, response.isDestroyed]).toEqual([true, false]);
    response.isFull = true;
    stream.send('a');
    stream.end();
    expect(response.isDestroyed).toBe(true);
  });

  it('shows proxies that it is alive', () => {
    jest.advanceTimersByTime(60_000);
    expect(response.events).toEqual(Array(4).fill('still here'));
  });
});
