import { beforeEach, describe, expect, it } from '@jest/globals';
import type { WatchEvent } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { WatchRegistry } from '../../../lib/zookeeper/connection/watch-registry.js';

describe('The registry of watches', () => {
  let registry: WatchRegistry;
  let heard: string[];

  beforeEach(() => {
    registry = new WatchRegistry();
    heard = [];
  });

  const listener = (name: string) => (event: WatchEvent) =>
    void heard.push(`${name}: ${event.type} ${event.path}`);

  it('notifies all watchers of a path, once', () => {
    registry.add('data', '/a', listener('first'));
    registry.add('data', '/a', listener('second'));
    registry.add('data', '/b', listener('other'));
    registry.fire('changed', '/a');
    registry.fire('changed', '/a');
    expect(heard).toEqual(['first: changed /a', 'second: changed /a']);
  });

  it('notifies only the watchers of the children of a change of those', () => {
    registry.add('data', '/a', listener('data'));
    registry.add('child', '/a', listener('child'));
    registry.fire('child', '/a');
    expect(heard).toEqual(['child: child /a']);
    registry.fire('created', '/a');
    expect(heard).toEqual(['child: child /a', 'data: created /a']);
  });

  it('notifies all watchers of a deletion', () => {
    registry.add('child', '/a', listener('child'));
    registry.add('data', '/a', listener('data'));
    registry.fire('deleted', '/a');
    expect(heard.sort()).toEqual(['child: deleted /a', 'data: deleted /a']);
  });

  it('notifies all watchers of the end of the connection, once', () => {
    registry.add('data', '/a', listener('a'));
    registry.add('child', '/b', listener('b'));
    registry.disconnect();
    registry.disconnect();
    registry.fire('deleted', '/a');
    expect(heard).toEqual(['a: disconnected /a', 'b: disconnected /b']);
  });

  it('takes a watcher off, of one kind, and keeps the others', () => {
    const both = listener('both');
    registry.add('data', '/a', both);
    registry.add('child', '/a', both);
    registry.add('data', '/a', listener('other'));
    registry.remove('data', '/a', both);
    registry.remove('data', '/nowhere', both);
    registry.fire('changed', '/a');
    registry.fire('child', '/a');
    expect(heard).toEqual(['other: changed /a', 'both: child /a']);
  });

  it('keeps a watcher that is added again while it is notified', () => {
    const again = (event: WatchEvent) => {
      heard.push(event.type);
      if (heard.length < 3) registry.add('data', '/a', again);
    };
    registry.add('data', '/a', again);
    registry.fire('changed', '/a');
    expect(heard).toEqual(['changed']);
    registry.fire('changed', '/a');
    registry.disconnect();
    expect(heard).toEqual(['changed', 'changed', 'disconnected']);
  });
});
