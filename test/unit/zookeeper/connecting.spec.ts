import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockClientClosedError, LockConnectionError } from '../../../lib/core/errors/index.js';
import type { Transport } from '../../../lib/zookeeper/connection/transport.js';
import { type Visitor, VirtualWorld } from './world.js';

let world: VirtualWorld;
let visitor: Visitor;

beforeEach(() => {
  world = new VirtualWorld();
  visitor = world.arrive({ connectTimeout: 1_000 });
});

describe('A client that could not connect in time', () => {
  it('is closed: it rejects at once what waits for it, and what comes', async () => {
    const { locks, network } = visitor;
    network.isRefusing = true;
    const early = locks.mutex('early').acquire();
    const refused = expect(early).rejects.toBeInstanceOf(LockClientClosedError);
    await expect(world.clock.runUntil(locks.connect())).rejects.toBeInstanceOf(LockConnectionError);
    await refused;
    network.isRefusing = false;
    expect(locks.status()).toMatchObject({ state: 'CLOSED', waiting: 0 });
    for (const late of [locks.connect(), locks.mutex('late').acquire(), locks.ping()])
      await expect(late).rejects.toBeInstanceOf(LockClientClosedError);
    await locks.close();
    expect(world.clock.isIdle).toBe(true);
  });
});

describe('A client of servers that take its connection and say nothing', () => {
  it('does not wait for them to end it when the connectTimeout is over', async () => {
    const silent = (network: Transport): Transport => ({
      open: (options, listener) => network.open(options, listener),
      close: () => new Promise(() => {}),
    });
    const { locks, network } = world.arrive({ connectTimeout: 1_000, through: silent });
    network.partition();
    const begun = world.clock.now();
    await expect(world.clock.runUntil(locks.connect())).rejects.toBeInstanceOf(LockConnectionError);
    expect(world.clock.now() - begun).toBeLessThan(1_500);
    expect(locks.status().state).toBe('CLOSED');
  });
});

describe('A client that is closed while it connects', () => {
  it('is not connected, even if its session is open, and only its worker thread is still to start', async () => {
    let closed!: Promise<void>;
    const worker = {
      start: async () => void (closed = visitor.locks.close()),
      close: async () => {},
    };
    visitor = world.arrive({ worker });
    const connecting = world.clock.runUntil(visitor.locks.connect());
    await expect(connecting).rejects.toBeInstanceOf(LockClientClosedError);
    await world.clock.runUntil(closed);
    expect(visitor.locks.status().state).toBe('CLOSED');
    await world.clock.advance(0); // the messages that are under way
    expect(world.clock.isIdle).toBe(true);
  });
});
