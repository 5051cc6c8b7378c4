import { afterEach, describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Scope, type Type } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  LeaderOnly,
  LockClientUnknownError,
  LockDecoratorTargetError,
  LockKeyError,
  LockModule,
  OnLeadership,
  OnLeadershipLost,
  WithMutex,
} from '../../lib/index.js';
import { Apps } from './support/apps.js';

const apps = new Apps();
afterEach(() => apps.close());

@Injectable()
class Mailer {
  @OnLeadership('mailer')
  begin(): void {}
}

describe('An app does not start', () => {
  const complaintOf = (provider: Type, ...more: Type[]) =>
    apps.boot({ imports: [LockModule.forRoot()], providers: [provider, ...more] }).then(
      () => new Error('it starts'),
      (error: Error) => error,
    );
  const advice = 'Move it to a singleton provider or controller.';
  const why =
    'its class is not a singleton: it is transient, or request-scoped by itself or by what it injects';

  @Injectable({ scope: Scope.REQUEST })
  class OfRequests extends Mailer {}

  @Injectable({ scope: Scope.TRANSIENT })
  class Transient extends Mailer {}

  @Injectable()
  class WithRequest extends Mailer {
    constructor(@Inject(REQUEST) readonly request: unknown) {
      super();
    }
  }

  it.each([
    ['a request-scoped provider', OfRequests],
    ['a transient provider', Transient],
    ['a provider that injects the request', WithRequest],
  ])('with a handler of %s', async (_, provider) => {
    const error = await complaintOf(provider);
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error.message).toBe(`@OnLeadership cannot call Mailer.begin: ${why}. ${advice}`);
  });

  it('with a client that there is not', async () => {
    @Injectable()
    class Handler {
      @OnLeadershipLost('mailer', { client: 'archive' })
      end() {}
    }

    @Injectable()
    class Guarded {
      @LeaderOnly('mailer', { client: 'archive' })
      async run(): Promise<void> {}
    }
    for (const [provider, method] of [
      [Handler, 'Handler.end'],
      [Guarded, 'Guarded.run'],
    ] as const) {
      const error = await complaintOf(provider);
      expect(error).toBeInstanceOf(LockClientUnknownError);
      expect(error.message).toContain(
        `There is no lock client "archive", which ${method} asks for; registered: "default".`,
      );
    }
  });

  it('with the key of another kind of lock', async () => {
    @Injectable()
    class Desk {
      @WithMutex('mailer')
      async run(): Promise<void> {}
    }

    @Injectable()
    class Guarded {
      @LeaderOnly('mailer')
      async run(): Promise<void> {}
    }
    const error = await complaintOf(Desk, Guarded);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error.message).toContain('(it is the key of Guarded.run)');
    const other = await complaintOf(Desk, Mailer);
    expect(other).toBeInstanceOf(LockKeyError);
    expect(other.message).toMatch(/\(it is the key of (Mailer\.begin|Desk\.run)\)/);
  });
});
