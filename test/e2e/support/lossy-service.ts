import { Injectable } from '@nestjs/common';
import { currentLease, type Lease } from '../../../lib/index.js';
import type { LockKind } from './lock-kinds.js';
import { Room } from './room.js';

/** A service that locks the key `import` by that decorator, with one method for each policy on loss. */
export function lossyServiceThat({ lock }: LockKind) {
  @Injectable()
  class Import {
    lease?: Lease;

    constructor(private readonly room: Room) {}

    @lock('import')
    async byDefault(): Promise<string> {
      return this.#work();
    }

    @lock('import', { onLost: 'throw' })
    async throwing(): Promise<string> {
      return this.#work();
    }

    @lock('import', { onLost: 'abort' })
    async aborting(): Promise<string> {
      return this.#work();
    }

    @lock('import', { onLost: 'ignore' })
    async ignoring(): Promise<string> {
      return this.#work();
    }

    @lock('import', { onLost() {} })
    async told(): Promise<string> {
      return this.#work();
    }

    @lock((_error: unknown) => 'import', { onLost: 'throw' })
    async failing(error: unknown): Promise<string> {
      await this.#work();
      throw error;
    }

    @lock((_error: unknown) => 'import', { onLost: 'abort' })
    async failingLater(error: unknown): Promise<string> {
      await this.#work();
      throw error;
    }

    async #work(): Promise<string> {
      this.lease = currentLease()!;
      await this.lease.fencingToken(); // from here on the loss of its node is reported
      return this.room.stay('loaded');
    }
  }

  return Import;
}
