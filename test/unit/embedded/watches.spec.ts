import { beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { EmbeddedClient } from './embedded-client.js';

describe('watches of the embedded tree', () => {
  let server: EmbeddedServer;
  let watcher: EmbeddedClient;
  let other: EmbeddedClient;

  beforeEach(() => {
    server = new EmbeddedServer();
    watcher = new EmbeddedClient(server);
    other = new EmbeddedClient(server);
    other.create('/p');
  });

  it('fire once, however often they were set', () => {
    watcher.exists('/p', true);
    watcher.getData('/p', true);
    watcher.getData('/p', true);
    other.setData('/p', 'one');
    other.setData('/p', 'two');
    expect(watcher.heard).toEqual(['changed /p']);
    expect(server.tree.watchCount).toBe(0);
  });

  it('report the creation of a missing node, but only those set by exists', () => {
    watcher.exists('/p/a', true);
    watcher.getData('/p/b', true);
    watcher.getChildren('/p/b', true);
    expect(server.tree.watchCount).toBe(1);
    other.create('/p/a');
    other.create('/p/b');
    expect(watcher.heard).toEqual(['created /p/a']);
  });

  it('report a deletion once to a client that watches data and children', () => {
    watcher.exists('/p', true);
    watcher.getChildren('/p', true);
    other.delete('/p');
    expect(watcher.heard).toEqual(['deleted /p']);
    expect(server.tree.watchCount).toBe(0);
  });

  it('on children fire when one comes or goes, not when its data changes', () => {
    other.create('/p/a');
    watcher.getChildren('/p', true);
    other.setData('/p/a', 'new');
    expect(watcher.heard).toEqual([]);
    other.create('/p/b');
    watcher.getChildren('/p', true);
    other.delete('/p/a');
    watcher.getChildren('/p', true);
    other.delete('/p/b');
    expect(watcher.heard).toEqual(['child /p', 'child /p', 'child /p']);
  });

  it('on data stay silent when children come and go', () => {
    watcher.getData('/p', true);
    other.create('/p/a');
    other.delete('/p/a');
    expect(watcher.heard).toEqual([]);
  });

  it('notify the client that makes the change too, before its answer', () => {
    watcher.exists('/p', true);
    watcher.heard.push(`answer ${watcher.delete('/p')}`);
    expect(watcher.heard).toEqual(['deleted /p', 'answer 0']);
  });

  it('fire in the order of the changes', () => {
    for (const name of ['a', 'b', 'c']) other.create(`/p/${name}`);
    for (const name of ['c', 'a', 'b']) watcher.exists(`/p/${name}`, true);
    for (const name of ['b', 'c', 'a']) other.delete(`/p/${name}`);
    expect(watcher.heard).toEqual(['deleted /p/b', 'deleted /p/c', 'deleted /p/a']);
  });

  it('fire when a session takes its nodes along', () => {
    other.create('/p/own', CreateMode.EPHEMERAL);
    watcher.exists('/p/own', true);
    watcher.getChildren('/p', true);
    server.expire(other.credentials!.id);
    expect(watcher.heard).toEqual(['deleted /p/own', 'child /p']);
  });

  it('go with their link', () => {
    watcher.exists('/p', true);
    watcher.getChildren('/p', true);
    const { credentials } = watcher;
    const successor = new EmbeddedClient(server, { credentials });
    expect(server.tree.watchCount).toBe(0);
    other.delete('/p');
    expect(successor.heard).toEqual([]);
  });

  it('of one link leave those of another alone', () => {
    const third = new EmbeddedClient(server);
    watcher.exists('/p', true);
    third.exists('/p', true);
    server.disconnect(watcher.caller!);
    other.delete('/p');
    expect(watcher.heard).toEqual([]);
    expect(third.heard).toEqual(['deleted /p']);
  });
});
