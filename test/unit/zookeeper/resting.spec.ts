import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Visitor, VirtualWorld } from './world.js';

describe('A connection that rests', () => {
  let world: VirtualWorld;
  let visitor: Visitor;

  beforeEach(async () => {
    world = new VirtualWorld();
    visitor = await world.join({ sessionTimeout: 10_000 });
  });
  afterEach(() => world.clock.runUntil(visitor.locks.close(0)));

  const expectRest = async () => {
    await world.clock.advance(60_000);
    expect(visitor.connection).toMatchObject({ state: 'SUSPENDED', session: undefined });
  };

  it('ends its session, and opens another one when it is needed again', async () => {
    const { connection } = visitor;
    const first = connection.session!;
    await connection.rest();
    await expectRest();
    expect(first.isAlive).toBe(false);
    connection.ref();
    await world.clock.runUntil(() => connection.isConnected);
    expect(connection.session!.id).not.toBe(first.id);
  });

  it('does so too if a listener sends it to rest as its link breaks', async () => {
    const { connection, network } = visitor;
    const stop = connection.onStateChange(() => void connection.rest());
    network.cut();
    await world.clock.runUntil(() => !connection.isConnected);
    stop();
    await expectRest();
    connection.ref();
    await world.clock.runUntil(() => connection.isConnected);
  });
});
