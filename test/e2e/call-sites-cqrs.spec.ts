import { describe, expect, it } from '@jest/globals';
import {
  CommandBus,
  CommandHandler,
  CqrsModule,
  EventBus,
  EventsHandler,
  QueryBus,
  QueryHandler,
  type ICommandHandler,
  type IEventHandler,
  type IQueryHandler,
} from '@nestjs/cqrs';
import { Deferred } from '../support/deferred.js';
import type { LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { PLACED_KINDS } from './support/placed-kinds.js';
import { Room } from './support/room.js';

class Pay {
  constructor(readonly coins: number) {}
}

class Paid {
  constructor(readonly coins: number) {}
}

class HowMany {
  constructor(readonly coins: number) {}
}

/** The handlers of an app that locks by that decorator. */
function handlersThat({ lock }: LockKind) {
  @CommandHandler(Pay)
  class PayHandler implements ICommandHandler<Pay> {
    constructor(private readonly room: Room) {}

    @lock('till:{0.coins}')
    async execute({ coins }: Pay): Promise<number> {
      return this.room.stay(coins);
    }
  }

  @EventsHandler(Paid)
  class PaidHandler implements IEventHandler<Paid> {
    readonly handled = new Deferred<number>();

    constructor(private readonly room: Room) {}

    @lock('till:{0.coins}')
    async handle({ coins }: Paid): Promise<void> {
      this.handled.resolve(await this.room.stay(coins));
    }
  }

  @QueryHandler(HowMany)
  class HowManyHandler implements IQueryHandler<HowMany> {
    constructor(private readonly room: Room) {}

    @lock('till:{0.coins}')
    async execute({ coins }: HowMany): Promise<number> {
      return this.room.stay(coins);
    }
  }

  return { PayHandler, PaidHandler, HowManyHandler };
}

describe.each(PLACED_KINDS)(
  'With LockModule imported $position, the lock of @$decorator is held around',
  (kind) => {
    const { PayHandler, PaidHandler, HowManyHandler } = handlersThat(kind);
    const start = () =>
      LockedApp.init(kind, {
        imports: [CqrsModule.forRoot()],
        providers: [PayHandler, PaidHandler, HowManyHandler],
      });

    it('a CQRS command handler', async () => {
      await using app = await start();
      const call = () => app.nest.get(CommandBus).execute<Pay, number>(new Pay(3));
      expect(await app.held('till:3', call)).toBe(3);
    });

    it('a CQRS event handler', async () => {
      await using app = await start();
      const call = () => {
        app.nest.get(EventBus).publish(new Paid(3));
        return app.nest.get(PaidHandler).handled.promise;
      };
      expect(await app.held('till:3', call)).toBe(3);
    });

    it('a CQRS query handler', async () => {
      await using app = await start();
      const call = () => app.nest.get(QueryBus).execute<HowMany, number>(new HowMany(3));
      expect(await app.held('till:3', call)).toBe(3);
    });
  },
);
