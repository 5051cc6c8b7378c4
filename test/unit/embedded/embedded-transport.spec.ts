import { describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { systemClock } from '../../../lib/core/clock.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { Session } from '../../../lib/zookeeper/connection/session.js';
import type { SessionCredentials } from '../../../lib/zookeeper/connection/transport.js';
import { create, EmbeddedClient, exists, open } from './embedded-client.js';

const { CONNECTIONLOSS } = ReturnCode;
/** A link to a server of its own. */
function linked(defer?: (flush: () => void) => void) {
  const server = new EmbeddedServer();
  const transport = new EmbeddedTransport(server, defer);
  return { server, transport, ...open(transport) };
}

describe('EmbeddedTransport', () => {
  it('carries requests out at once, and answers in order in a later turn', async () => {
    const { server, send, heard } = linked();
    send(create('/a'));
    send(exists('/a'));
    send(exists('/none'));
    expect(server.tree.size).toBe(2);
    await Promise.resolve();
    expect(heard).toEqual([]);
    await nextTurn();
    expect(heard).toEqual(['connected', 'create 0', 'exists 0', `exists ${ReturnCode.NONODE}`]);
  });

  it('notifies watches before the answer that shows the change', async () => {
    const { server, send, heard } = linked();
    send(exists('/a', true));
    new EmbeddedClient(server).create('/a');
    send(exists('/a'));
    await nextTurn();
    expect(heard.slice(1)).toEqual([`exists ${ReturnCode.NONODE}`, 'created /a', 'exists 0']);
  });

  it('takes one deferred call for the answers of a turn', async () => {
    const flushes: (() => void)[] = [];
    const { send, heard } = linked((flush) => void flushes.push(flush));
    for (let n = 0; n < 200; n++) send(exists('/'));
    expect(flushes).toHaveLength(1);
    flushes[0]!();
    await nextTurn();
    expect(heard).toHaveLength(201);
    send(exists('/'));
    expect(flushes).toHaveLength(2);
  });

  it('delivers no more than 256 answers of a burst in one turn, and all of them in order', async () => {
    const { server, send, heard } = linked();
    for (let n = 0; n < 1_000; n++) send(create(`/${n}`));
    expect(server.tree.size).toBe(1_001);
    const order = new Set<number>();
    for (let turns = 1; heard.length < 1_001; turns++) {
      await nextTurn();
      expect(heard.length).toBeLessThanOrEqual(256 * turns);
      order.add(heard.length);
    }
    expect(order.size).toBeGreaterThanOrEqual(4);
    send(exists('/'));
    await nextTurn();
    expect(heard.at(-1)).toBe('exists 0');
  });

  it('delivers a message when all that follows upon the one before has run', async () => {
    const { link } = linked();
    const order: string[] = [];
    const answer = (name: string) =>
      new Promise<void>((resolve) => link.request(exists('/'), () => resolve()))
        .then(() => {})
        .then(() => process.nextTick(() => order.push(`after ${name}`)))
        .then(() => order.push(name));
    await Promise.all([answer('a'), answer('b')]);
    expect(order).toEqual(['a', 'after a', 'b']);
  });

  it('lets timers have their turn while requests follow upon answers for ever', async () => {
    const { link } = linked();
    let isOver = false;
    const timer = new Promise((resolve) => setTimeout(resolve, 5));
    const loop = (async () => {
      while (!isOver)
        await new Promise<void>((resolve) => link.request(exists('/'), () => resolve()));
    })();
    await timer;
    isOver = true;
    await loop;
  });

  it('delivers the rest when one of the answers is met with an error', async () => {
    const flushes: (() => void)[] = [];
    const { link, send, heard } = linked((flush) => void flushes.push(flush));
    await Promise.resolve(flushes.shift()!()).then(nextTurn);
    link.request(exists('/'), () => {
      throw new Error('thrown by the owner');
    });
    send(create('/a'));
    expect(flushes.shift()).toThrow('thrown by the owner');
    await nextTurn();
    expect(heard).toEqual(['connected', 'create 0']);
  });

  it('does not notify one client in the async context of another', async () => {
    const context = new AsyncLocalStorage<string>();
    const { link } = linked();
    const seen: unknown[] = [];
    await context.run('of the first', () => {
      link.request(exists('/'), () => seen.push(context.getStore()));
      link.request(exists('/'), () => seen.push(context.getStore()));
      return nextTurn();
    });
    expect(seen).toEqual([undefined, undefined]);
  });

  it('attaches to a session by its credentials, and says so to the older link', async () => {
    const { transport, ...first } = linked();
    await nextTurn();
    first.send(create('/a'));
    const second = open(transport, { credentials: first.said.credentials });
    first.send(exists('/'));
    await nextTurn();
    expect(second.said.credentials).toEqual(first.said.credentials);
    const moved = expect.stringMatching(/^disconnected/);
    expect(first.heard).toEqual(['connected', 'create 0', moved, `exists ${CONNECTIONLOSS}`]);
    first.send(exists('/'));
    await nextTurn();
    expect(first.heard.at(-1)).toBe(`exists ${CONNECTIONLOSS}`);
    second.send(exists('/a'));
    await nextTurn();
    expect(second.heard).toEqual(['connected', 'exists 0']);
  });

  it('reports that a session has expired to the client that asks for it', async () => {
    const { server, transport, ...first } = linked();
    await nextTurn();
    server.expire(first.said.credentials!.id);
    const second = open(transport, { credentials: first.said.credentials });
    second.send(exists('/'));
    await nextTurn();
    expect(first.heard).toEqual(['connected', expect.stringMatching(/^disconnected/)]);
    expect(second.heard).toEqual(['expired', `exists ${CONNECTIONLOSS}`]);
  });

  it('closes link and session, and says nothing more but how requests ended', async () => {
    const { server, link, send, heard } = linked();
    send(create('/a'));
    link.close();
    link.close();
    send(exists('/'));
    expect(server.tree.size).toBe(1);
    await nextTurn();
    expect(heard).toEqual(['create 0', `exists ${CONNECTIONLOSS}`]);
  });

  describe('a detached link', () => {
    async function detached(sessionOf: (credentials: SessionCredentials) => Session | undefined) {
      const { server, ...opened } = linked();
      opened.send(create('/a'));
      opened.send(exists('/a', true));
      await nextTurn();
      const session = sessionOf(opened.said.credentials!);
      opened.link.detach(session);
      return { server, session, ...opened };
    }

    it('leaves the session alone, and takes its watches away', async () => {
      const { server, heard } = await detached(() => undefined);
      expect(server.tree.size).toBe(2);
      expect(server.tree.watchCount).toBe(0);
      server.remove('/a');
      await nextTurn();
      expect(heard).toEqual(['connected', 'create 0', 'exists 0']);
    });

    it('still ends the session when its owner does', async () => {
      const { server, session } = await detached(
        ({ id, password }) => new Session(id, password, Infinity, systemClock, 0),
      );
      expect(server.tree.size).toBe(2);
      session!.end('the owner has given up');
      expect(server.tree.size).toBe(1);
    });
  });

  it('waits while the server is frozen, in order', async () => {
    const { server, send, heard } = linked();
    server.freeze();
    send(create('/a'));
    send(exists('/a'));
    await nextTurn();
    expect(heard).toEqual(['connected']);
    server.thaw();
    await nextTurn();
    expect(heard).toEqual(['connected', 'create 0', 'exists 0']);
  });

  it('makes no session for a link that was given up before the server saw it', async () => {
    const server = new EmbeddedServer();
    server.freeze();
    const { link, heard } = open(new EmbeddedTransport(server));
    link.detach(undefined);
    server.thaw();
    await nextTurn();
    expect(heard).toEqual([]);
    expect(new EmbeddedClient(server).credentials!.id).toBe('1');
  });
});
