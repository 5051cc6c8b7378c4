import { beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import type { Request } from '../../../lib/zookeeper/connection/transport.js';
import { CreateMode, Permission } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { eventually } from '../../support/time.js';
import { EmbeddedClient } from './embedded-client.js';

const { EPHEMERAL, EPHEMERAL_SEQUENTIAL, PERSISTENT, PERSISTENT_SEQUENTIAL, CONTAINER } =
  CreateMode;
const { NONODE, NODEEXISTS, NOTEMPTY, BADVERSION, BADARGUMENTS, NOAUTH, INVALIDACL } = ReturnCode;

describe('znodes of the embedded tree', () => {
  let server: EmbeddedServer;
  let client: EmbeddedClient;

  beforeEach(() => {
    server = new EmbeddedServer();
    client = new EmbeddedClient(server);
  });

  describe('sequence numbers', () => {
    it('are not used up by a refused create', () => {
      client.create('/p');
      client.create('/p/x');
      expect(client.create('/p/x')).toBe(NODEEXISTS);
      expect(client.create('/p/a-', EPHEMERAL_SEQUENTIAL)).toBe('/p/a-0000000001');
    });

    it('stay at the largest 32-bit number, as on a server of version 3.8', () => {
      client.create('/p');
      server.tree.get('/p')!.nextSequence = 2 ** 31 - 2;
      expect(client.create('/p/a-', EPHEMERAL_SEQUENTIAL)).toBe('/p/a-2147483646');
      expect(client.create('/p/a-', EPHEMERAL_SEQUENTIAL)).toBe('/p/a-2147483647');
      expect(client.create('/p/b-', EPHEMERAL_SEQUENTIAL)).toBe('/p/b-2147483647');
      expect(client.create('/p/a-', EPHEMERAL_SEQUENTIAL)).toBe(NODEEXISTS);
    });
  });

  it('reports what it knows of a node', () => {
    client.create('/p');
    client.create('/p/own', EPHEMERAL, 'one');
    const created = client.exists('/p/own') as { czxid: number };
    expect(created).toEqual({
      czxid: expect.any(Number),
      mzxid: created.czxid,
      version: 0,
      ephemeralOwner: client.credentials!.id,
      numChildren: 0,
    });
    const changed = client.setData('/p/own', 'two', 0) as { mzxid: number };
    expect(changed).toMatchObject({ czxid: created.czxid, version: 1 });
    expect(changed.mzxid).toBeGreaterThan(created.czxid);
    expect(client.getData('/p/own')).toEqual({ data: Buffer.from('two'), stat: changed });
    expect(client.exists('/p')).toMatchObject({ ephemeralOwner: '0', numChildren: 1 });
  });

  it('has ids above those of a server before it, as of a process that has ended', async () => {
    client.create('/p');
    const { czxid: last } = client.exists('/p') as { czxid: number };
    const first = () => {
      const later = new EmbeddedClient(new EmbeddedServer());
      later.create('/p');
      return (later.exists('/p') as { czxid: number }).czxid;
    };
    await eventually('a millisecond has passed', () => first() > last);
  });

  it('keeps its own copy of data', () => {
    const data = Buffer.from('mine');
    client.send({ op: 'create', path: '/p', data, mode: CreateMode.PERSISTENT });
    data.fill(0);
    const first = client.getData('/p') as { data: Buffer };
    first.data.fill(0);
    expect(client.getData('/p')).toMatchObject({ data: Buffer.from('mine') });
  });

  it('refuses what cannot be done, with the reason that ZooKeeper gives', () => {
    client.create('/p', PERSISTENT_SEQUENTIAL);
    client.create('/p');
    client.create('/p/own', EPHEMERAL);
    expect(client.create('/')).toBe(NODEEXISTS);
    expect(client.delete('/p', 1)).toBe(BADVERSION);
    expect(client.delete('/p')).toBe(NOTEMPTY);
    expect(client.delete('/')).toBe(BADARGUMENTS);
    expect(client.exists('/none')).toBe(NONODE);
    expect(client.setAcl('/none', 31, 'world', 'anyone')).toBe(NONODE);
    expect(client.delete('/p/own', 0)).toBe(0);
    expect(client.delete('/p')).toBe(0);
    expect(client.send({ op: 'sync', path: '/none' })).toEqual({ rc: 0 });
  });

  it.each(['', 'p', '//', '/p/', '/p//q', '/p/./q', '/p/..', '/p\0', '/p\u{1f600}'])(
    'refuses the path %j',
    (path) => {
      expect(client.create(path)).toBe(BADARGUMENTS);
      expect(client.exists(path)).toBe(BADARGUMENTS);
      expect(client.send({ op: 'sync', path })).toEqual({ rc: BADARGUMENTS });
    },
  );

  describe('containers', () => {
    it('are collected once they are empty and have had a child', () => {
      client.create('/fresh', CONTAINER);
      client.create('/used', CONTAINER);
      client.create('/used/a');
      client.create('/plain');
      client.create('/plain/a');
      server.collectContainers();
      expect(client.getChildren('/used')).toEqual(['a']);

      client.delete('/used/a');
      client.delete('/plain/a');
      server.collectContainers();
      expect(client.getChildren('/')).toEqual(['fresh', 'plain']);
    });

    it('stay while they are in use again', () => {
      client.create('/used', CONTAINER);
      client.create('/used/a');
      client.delete('/used/a');
      client.create('/used/b');
      server.collectContainers();
      expect(client.getChildren('/')).toEqual(['used']);
    });

    it('go one level at a time', () => {
      client.create('/outer', CONTAINER);
      client.create('/outer/inner', CONTAINER);
      client.create('/outer/inner/a');
      client.delete('/outer/inner/a');
      server.collectContainers();
      expect(client.getChildren('/outer')).toEqual([]);
      server.collectContainers();
      expect(client.getChildren('/')).toEqual([]);
    });

    it.each([CONTAINER, CreateMode.PERSISTENT])('stay when they are made anew, mode %d', (mode) => {
      client.create('/used', CONTAINER);
      client.create('/used/a');
      client.delete('/used/a');
      client.delete('/used');
      client.create('/used', mode);
      server.collectContainers();
      expect(client.getChildren('/')).toEqual(['used']);
    });
  });

  describe('access control', () => {
    const auth = [{ scheme: 'digest', auth: 'ann:secret' }];

    it('lets only the owner of the digest in', () => {
      const ann = new EmbeddedClient(server, { auth });
      ann.create('/p');
      ann.create('/p/a');
      expect(ann.setAcl('/p', Permission.ALL, 'auth', '')).toBe(0);
      expect(client.create('/p/b')).toBe(NOAUTH);
      expect(client.delete('/p/a')).toBe(NOAUTH);
      expect(client.getChildren('/p')).toBe(NOAUTH);
      expect(client.getData('/p')).toBe(NOAUTH);
      expect(client.setData('/p', '')).toBe(NOAUTH);
      expect(client.setAcl('/p', Permission.ALL, 'world', 'anyone')).toBe(NOAUTH);
      expect(client.exists('/p')).toMatchObject({ numChildren: 1 });
      expect(client.getData('/p/a')).toMatchObject({ data: Buffer.alloc(0) });
      expect(ann.create('/p/b')).toBe('/p/b');
    });

    it('gives the permissions of the list and no others', () => {
      client.create('/p');
      // user:base64(sha1('ann:secret')), as every ZooKeeper tool computes it
      const id = 'ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=';
      client.setAcl('/p', Permission.READ | Permission.CREATE, 'digest', id);
      const ann = new EmbeddedClient(server, { auth });
      expect(ann.create('/p/a')).toBe('/p/a');
      expect(ann.delete('/p/a')).toBe(NOAUTH);
      expect(client.getChildren('/p')).toBe(NOAUTH);
    });

    it('gives a node its list when it is created', () => {
      const acl = [{ perms: Permission.ALL, scheme: 'auth', id: '' }];
      const data = Buffer.alloc(0);
      const created = (path: string): Request => ({
        op: 'create',
        path,
        data,
        mode: PERSISTENT,
        acl,
      });
      expect(client.send(created('/none/a'))).toEqual({ rc: INVALIDACL }); // checked before the parent
      expect(client.exists('/none')).toBe(NONODE);
      const ann = new EmbeddedClient(server, { auth });
      expect(ann.send(created('/p'))).toMatchObject({ rc: 0, answer: { path: '/p' } });
      expect(client.create('/p/a')).toBe(NOAUTH);
      expect(ann.create('/p/a')).toBe('/p/a');
    });

    it('refuses lists that are none', () => {
      client.create('/p');
      expect(client.setAcl('/p', Permission.ALL, 'auth', '')).toBe(INVALIDACL); // we showed no credentials
      expect(client.setAcl('/p', Permission.ALL, 'world', 'someone')).toBe(INVALIDACL);
      expect(client.setAcl('/p', Permission.ALL, 'digest', 'ann')).toBe(INVALIDACL);
      expect(client.send({ op: 'setAcl', path: '/p', acl: [] })).toEqual({ rc: INVALIDACL });
    });

    it('takes no credentials of a kind it does not know', () => {
      const stranger = new EmbeddedClient(server, { auth: [{ scheme: 'kerberos', auth: 'x' }] });
      expect(stranger.caller).toBeUndefined();
      expect(stranger.heard).toEqual([expect.stringContaining('no auth scheme "kerberos"')]);
    });
  });
});

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

  it('fire no more once they are removed, each kind by itself', () => {
    const remove = (kind: 'data' | 'child') =>
      watcher.send({ op: 'removeWatches', path: '/p', kind })!.rc;
    watcher.exists('/p', true);
    watcher.getChildren('/p', true);
    other.getData('/p', true);
    expect([remove('data'), remove('data')]).toEqual([0, ReturnCode.NOWATCHER]);
    other.setData('/p', 'one');
    other.create('/p/a');
    expect(watcher.heard).toEqual(['child /p']);
    expect(other.heard).toEqual(['changed /p']);
    expect([remove('child'), server.tree.watchCount]).toEqual([ReturnCode.NOWATCHER, 0]);
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
