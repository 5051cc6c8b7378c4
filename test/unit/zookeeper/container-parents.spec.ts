import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import {
  type AclEntry,
  CreateMode,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ContainerParents } from '../../../lib/zookeeper/nodes/container-parents.js';
import { RecordingTransport } from '../../contract/recording-transport.js';
import { FaultyTransport } from '../../support/faulty-transport.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const EMPTY = Buffer.alloc(0);
const ACL: AclEntry[] = [{ perms: 31, scheme: 'auth', id: '' }];
const OURS = [{ perms: 31, scheme: 'digest', id: expect.stringMatching(/^app:/) }];
const EVES: AclEntry[] = [
  { perms: 31, scheme: 'digest', id: 'eve:hash' },
  { perms: 15, scheme: 'world', id: 'anyone' },
];

describe('The directories of locks', () => {
  let clock: VirtualClock;
  let server: EmbeddedServer;
  let network: FaultyTransport;
  let log: RecordingTransport;
  let connection: SessionConnection;

  beforeEach(async () => {
    clock = new VirtualClock();
    server = new EmbeddedServer({ clock });
    const embedded = new EmbeddedTransport(server, (flush) => clock.setTimer(flush, 0));
    network = new FaultyTransport(embedded, clock);
    log = new RecordingTransport(network);
    connection = new SessionConnection({
      transport: log,
      servers: embeddedServers,
      sessionTimeout: Infinity,
      clock,
      auth: [{ scheme: 'digest', auth: 'app:secret' }],
    });
    connection.start();
    await clock.runUntil(() => connection.isConnected);
  });
  afterEach(() => connection.close());

  const run = <T>(work: Promise<T>) => clock.runUntil(work);
  const asked = () => log.requests.map(({ op, path }) => `${op} ${path}`);
  const aclOf = (path: string) => server.tree.get(path)?.acl;

  it('are made from the lowest missing one down, as containers without data', async () => {
    await run(connection.create('/a', EMPTY, CreateMode.PERSISTENT));
    await run(new ContainerParents(connection, 'unit').make('/a/b/c'));
    expect(asked().slice(1)).toEqual([
      'exists /a/b/c',
      'exists /a/b',
      'exists /a',
      'create /a/b',
      'create /a/b/c',
    ]);
    for (const path of ['/a/b', '/a/b/c']) {
      expect(server.tree.get(path)).toMatchObject({ isContainer: true });
      expect((await run(connection.getData(path))).data).toHaveLength(0);
    }
  });

  it('are made once for many callers that need them at once, and again for those that come later', async () => {
    const parents = new ContainerParents(connection, 'unit');
    await run(Promise.all([1, 2, 3].map(() => parents.make('/a/b'))));
    expect(asked().filter((each) => each.startsWith('create'))).toEqual([
      'create /a',
      'create /a/b',
    ]);
    server.remove('/a/b');
    await run(parents.make('/a/b'));
    expect(server.tree.get('/a/b')).toBeDefined();
  });

  it('may be made by another client in the middle', async () => {
    const parents = new ContainerParents(connection, 'unit');
    const making = parents.make('/a/b');
    await clock.runUntil(() => asked().includes('exists /a'));
    void connection.create('/a', EMPTY, CreateMode.PERSISTENT);
    await run(making);
    expect(server.tree.get('/a/b')).toBeDefined();
    expect(server.tree.get('/a')).toMatchObject({ isContainer: false });
  });

  it('may be collected in the middle: that fails, and the next attempt makes them', async () => {
    const parents = new ContainerParents(connection, 'unit');
    const making = parents.make('/a/b');
    await clock.runUntil(() => asked().includes('create /a/b'));
    server.remove('/a');
    await expect(run(making)).rejects.toMatchObject({ code: 'NONODE' });
    await run(parents.make('/a/b'));
    expect(server.tree.get('/a/b')).toBeDefined();
  });

  it('get the access control list; those that were there keep theirs', async () => {
    await run(connection.create('/a', EMPTY, CreateMode.PERSISTENT));
    const before = aclOf('/a');
    const parents = new ContainerParents(connection, 'unit', ACL);
    await run(parents.make('/a/b/c'));
    expect(aclOf('/a')).toEqual(before);
    expect([aclOf('/a/b'), aclOf('/a/b/c')]).toEqual([OURS, OURS]);
  });

  it.each([
    ['create', 'lost'],
    ['create', 'unanswered'],
    ['setAcl', 'lost'],
    ['setAcl', 'unanswered'],
  ] as const)('get it although the connection broke at %s (%s)', async (op, fate) => {
    const parents = new ContainerParents(connection, 'unit', ACL);
    network.once(fate, (request) => request.op === op);
    await expect(run(parents.make('/a'))).rejects.toMatchObject({ code: 'CONNECTIONLOSS' });
    await clock.runUntil(() => connection.isConnected);
    await run(parents.make('/a'));
    expect(aclOf('/a')).toEqual(OURS);
    expect([...parents.open]).toEqual([]);
  });

  it.each(['served', 'lost'] as const)(
    'that another client has taken over are refused (the first list of ours is %s)',
    async (fate) => {
      const parents = new ContainerParents(connection, 'unit', ACL);
      const refusal = {
        code: 'LOCK_CONNECTION',
        client: 'unit',
        message: expect.stringContaining('/a'),
      };
      network.fate = ({ op }) => {
        if (op !== 'setAcl') return 'served';
        server.tree.get('/a')!.acl = EVES;
        network.fate = () => 'served';
        return fate;
      };
      const making = run(parents.make('/a/b'));
      await expect(making).rejects.toMatchObject(
        fate === 'served' ? refusal : { code: 'CONNECTIONLOSS' },
      );
      await clock.runUntil(() => connection.isConnected);
      for (let left = 2; left > 0; left--)
        await expect(run(parents.make('/a/b'))).rejects.toMatchObject(refusal);
      expect([...parents.open]).toEqual(['/a']);
      await expect(run(parents.settle('/ab'))).resolves.toBeUndefined();
      server.remove('/a'); // an operator has found out
      await run(parents.make('/a/b'));
      expect(aclOf('/a/b')).toEqual(OURS);
    },
  );

  it('may be nodes with data, which then get it too', async () => {
    const parents = new ContainerParents(connection, 'unit', ACL);
    await run(parents.create('/count', Buffer.from('5')));
    expect(aclOf('/count')).toEqual(OURS);
    await expect(run(parents.create('/count', EMPTY))).rejects.toMatchObject({
      code: 'NODEEXISTS',
    });
    expect([...parents.open]).toEqual([]);
  });

  it('are made although the list could not be set, which is done before they are used again', async () => {
    const parents = new ContainerParents(connection, 'unit', ACL);
    network.once('lost', ({ op }) => op === 'setAcl');
    await run(parents.create('/count', EMPTY));
    expect([...parents.open]).toEqual(['/count']);
    await clock.runUntil(() => connection.isConnected);
    await run(parents.settle('/count'));
    expect(aclOf('/count')).toEqual(OURS);
  });
});
