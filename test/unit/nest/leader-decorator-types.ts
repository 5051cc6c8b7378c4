/* Checked by the compiler, never run: what the types of the decorators of elections take, and what they refuse. */
import {
  LeaderOnly,
  OnLeadership,
  OnLeadershipLost,
  type Leadership,
  type LockLostError,
} from '../../../lib/index.js';

export class Accepted {
  @LeaderOnly('jobs')
  async run() {}

  @LeaderOnly('jobs', { client: 'other', onLost: 'abort' })
  async withResult(): Promise<number | undefined> {
    return 1;
  }

  @LeaderOnly('jobs', { onLost: (error, id: string) => void [error.key, id.length] })
  async watched(_id: string, _amount: number) {}

  @OnLeadership('jobs')
  begin(_leadership: Leadership) {}

  @OnLeadership('jobs', { client: 'other' })
  async beginLater() {}

  @OnLeadership('jobs')
  protected part({ signal }: Pick<Leadership, 'signal'>) {
    return signal;
  }

  @OnLeadershipLost('jobs')
  end(_reason?: LockLostError) {}

  @OnLeadershipLost('jobs')
  async endLater(_reason: Error | undefined) {}
}

export class Refused {
  // @ts-expect-error -- a call elsewhere resolves to undefined
  @LeaderOnly('jobs')
  async promised(): Promise<number> {
    return 1;
  }

  // @ts-expect-error -- returns no promise
  @LeaderOnly('jobs')
  sync(): void {}

  // @ts-expect-error -- the name is a text
  @LeaderOnly(() => 'jobs')
  async named() {}

  // @ts-expect-error -- it waits for nothing
  @LeaderOnly('jobs', { wait: 5 })
  async waiting() {}

  // @ts-expect-error -- of instances only
  @OnLeadership('jobs')
  static begin() {}

  // @ts-expect-error -- gets a Leadership
  @OnLeadership('jobs')
  other(_leadership: string) {}

  // @ts-expect-error -- there may be no reason
  @OnLeadershipLost('jobs')
  end(_reason: LockLostError) {}

  // @ts-expect-error -- not a method
  @OnLeadership('jobs')
  property = () => {};
}
