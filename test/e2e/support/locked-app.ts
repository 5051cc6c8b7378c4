import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { LockModule } from '../../../lib/index.js';
import { clientOf } from './apps.js';
import { expectHeld } from './expect-held.js';
import type { LockKind } from './lock-kinds.js';
import type { PlacedKind } from './placed-kinds.js';
import { Room } from './room.js';

export interface LockedAppOptions {
  /** Default: Express. */
  readonly adapter?: AbstractHttpAdapter;
  /** Is called before it is initialised. */
  readonly prepare?: (app: INestApplication) => void;
}

/** An app with LockModule and a {@link Room}, in which locked calls stay. Disposing of it ends it. */
export class LockedApp implements AsyncDisposable {
  private constructor(
    private readonly kind: LockKind,
    readonly nest: INestApplication,
    private readonly room: Room,
  ) {}

  /** Builds and initialises it; LockModule is the last import, unless the kind says otherwise. */
  static async init(
    kind: LockKind & Partial<PlacedKind>,
    { imports = [], providers = [], controllers = [] }: ModuleMetadata,
    { adapter, prepare }: LockedAppOptions = {},
  ): Promise<LockedApp> {
    const room = new Room();
    const locks = LockModule.forRoot();
    const testing = await Test.createTestingModule({
      imports: kind.position === 'first' ? [locks, ...imports] : [...imports, locks],
      providers: [{ provide: Room, useValue: room }, ...providers],
      controllers,
    }).compile();
    const nest = testing.createNestApplication(adapter ?? new ExpressAdapter());
    prepare?.(nest);
    await nest.init();
    return new LockedApp(kind, nest, room);
  }

  /** Expects that `call` holds the lock of that key for as long as it stays in the room; gives what it gives. */
  held<T>(key: string, call: () => PromiseLike<T> | T): Promise<T> {
    const client = clientOf(this.nest);
    return expectHeld(client, this.kind.rival(client, key), this.room, call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.room.open();
    await this.nest.close();
  }
}
