import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import type { LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { PLACED_KINDS } from './support/placed-kinds.js';
import { Room } from './support/room.js';

/** The listeners of an app that locks by that decorator. */
function listenersThat({ lock }: LockKind) {
  @Injectable()
  class Listeners {
    constructor(private readonly room: Room) {}

    @OnEvent('lock.below')
    @lock('till:{0}')
    async lockBelow(coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    @lock('till:{0}')
    @OnEvent('lock.above')
    async lockAbove(coins: number): Promise<number> {
      return this.room.stay(coins);
    }
  }

  return Listeners;
}

describe.each(PLACED_KINDS)(
  'With LockModule imported $position, the lock of @$decorator is held around',
  (kind) => {
    const providers = [listenersThat(kind)];

    it.each(['lock.below', 'lock.above'])('an @OnEvent method, %s', async (event) => {
      await using app = await LockedApp.init(kind, {
        imports: [EventEmitterModule.forRoot()],
        providers,
      });
      const emit = () => app.nest.get(EventEmitter2).emitAsync(event, 3);
      expect(await app.held('till:3', emit)).toEqual([3]);
    });
  },
);
