import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Inject,
  Injectable,
  Module,
  Scope,
  type ModuleMetadata,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import { InjectLockClient, LockModule, type LockClient } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { Room } from './support/room.js';

const KEY = 'till';

interface Counter {
  count(coins: number): Promise<number>;
}

/** The classes of an app that locks by that decorator. */
function classesThat({ lock }: LockKind) {
  @Injectable()
  class Till {
    constructor(protected readonly room: Room) {}

    @lock(KEY)
    async count(coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    async countAll(coins: number): Promise<number> {
      return this.count(coins);
    }
  }

  @Injectable()
  class NightTill extends Till {}

  @Injectable()
  class PrivateTill {
    readonly #room: Room;

    constructor(room: Room) {
      this.#room = room;
    }

    @lock(KEY)
    async count(coins: number): Promise<number> {
      return this.#room.stay(coins);
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class RequestTill extends Till {}

  @Injectable({ scope: Scope.TRANSIENT })
  class TransientTill extends Till {}

  @Injectable()
  class Accountant {
    constructor(readonly till: TransientTill) {}
  }

  @Injectable()
  class Opener {
    constructor(readonly module: ModuleRef) {}
  }

  return { Till, NightTill, PrivateTill, RequestTill, TransientTill, Accountant, Opener };
}

const cases = LOCK_KINDS.flatMap((kind) =>
  ['first', 'last'].map((position) => ({ ...kind, kind, position })),
);

describe.each(cases)(
  'With LockModule imported $position, the lock of @$decorator is held around',
  ({ kind, position }) => {
    const { Till, NightTill, PrivateTill, RequestTill, TransientTill, Accountant, Opener } =
      classesThat(kind);
    const apps = new Apps();
    let room: Room;

    beforeEach(() => void (room = new Room()));
    afterEach(() => apps.close());

    const held = <T>(client: LockClient, call: () => PromiseLike<T> | T) =>
      expectHeld(client, kind.rival(client, KEY), room, call);

    async function boot({ imports = [], providers = [] }: ModuleMetadata) {
      const locks = LockModule.forRoot();
      const app = await apps.boot({
        imports: position === 'first' ? [locks, ...imports] : [...imports, locks],
        providers: [{ provide: Room, useValue: room }, ...providers],
      });
      return { app, client: clientOf(app) };
    }

    it('a method of a service', async () => {
      const { app, client } = await boot({ providers: [Till] });
      expect(await held(client, () => app.get(Till).count(3))).toBe(3);
    });

    it('a method that the service calls on itself', async () => {
      const { app, client } = await boot({ providers: [Till] });
      expect(await held(client, () => app.get(Till).countAll(3))).toBe(3);
    });

    it('an inherited method', async () => {
      const { app, client } = await boot({ providers: [NightTill] });
      expect(await held(client, () => app.get(NightTill).count(3))).toBe(3);
    });

    it('a method that uses private fields', async () => {
      const { app, client } = await boot({ providers: [PrivateTill] });
      expect(await held(client, () => app.get(PrivateTill).count(3))).toBe(3);
    });

    it('a method of a request-scoped provider', async () => {
      const { app, client } = await boot({ providers: [RequestTill] });
      const till = await app.resolve(RequestTill, ContextIdFactory.create());
      expect(await held(client, () => till.count(3))).toBe(3);
    });

    it('a method of a transient provider', async () => {
      const { app, client } = await boot({ providers: [Accountant, TransientTill] });
      const { till } = app.get(Accountant);
      expect(await held(client, () => till.count(3))).toBe(3);
    });

    it('a method of an instance that a factory made', async () => {
      const till = { provide: 'till', inject: [Room], useFactory: (room: Room) => new Till(room) };
      const { app, client } = await boot({ providers: [till] });
      expect(await held(client, () => app.get<Counter>('till').count(3))).toBe(3);
    });

    it('a method of an instance that was given as a value', async () => {
      const till = new NightTill(room);
      const { client } = await boot({ providers: [{ provide: 'till', useValue: till }] });
      expect(await held(client, () => till.count(3))).toBe(3);
    });

    it('a method of an instance that moduleRef.create made', async () => {
      const { app, client } = await boot({ providers: [Opener] });
      const till = await app.get(Opener).module.create(Till);
      expect(await held(client, () => till.count(3))).toBe(3);
    });

    const byFactory = {
      provide: Till,
      inject: [Room],
      useFactory: (room: Room) => new Till(room),
    };
    it.each<[string, Provider]>([
      ['a method', Till],
      ['a method of an instance from a factory', byFactory],
    ])("%s called in another module's onModuleInit", async (_, provider) => {
      const found: unknown[] = [];

      @Module({ providers: [provider, { provide: Room, useValue: room }] })
      class OpeningModule implements OnModuleInit {
        constructor(
          @Inject(Till) private readonly till: Counter,
          @InjectLockClient() private readonly client: LockClient,
        ) {}

        async onModuleInit() {
          found.push(await held(this.client, () => this.till.count(3)));
        }
      }

      await boot({ imports: [OpeningModule] });
      expect(found).toEqual([3]);
    });
  },
);
