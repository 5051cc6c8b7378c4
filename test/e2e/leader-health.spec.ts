import { afterEach, describe, expect, it } from '@jest/globals';
import { TerminusModule } from '@nestjs/terminus';
import { LockHealthIndicator } from '../../lib/health/index.js';
import { LeaderElections, LockModule } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';

const PATIENCE = 20_000;

describe('The health of a client', () => {
  const apps = new Apps();
  afterEach(() => apps.close());

  it('reports the role of the app in each of its elections there, if there are any', async () => {
    const app = await apps.boot({
      imports: [
        LockModule.forRoot(),
        LockModule.forRoot({ name: 'other' }),
        TerminusModule.forRoot({ logger: false }),
      ],
      providers: [LockHealthIndicator],
    });
    const health = app.get(LockHealthIndicator);
    const elections = app.get(LeaderElections);
    const check = async (client?: string) =>
      (await health.pingCheck('locks', { client, timeout: PATIENCE })).locks;
    expect(await check()).not.toHaveProperty('elections');

    const rival = clientOf(app).leaderLatch('printer');
    rival.start();
    await rival.awaitLeadership({ wait: PATIENCE });
    elections.of('printer');
    await elections.of('mailer').awaitLeadership({ wait: PATIENCE });
    const states = { printer: 'follower', mailer: 'leader' };
    expect(await check()).toMatchObject({ status: 'up', health: 'up', elections: states });
    expect(await check('other')).not.toHaveProperty('elections');
    const all = await health.pingCheckAll('locks', { timeout: PATIENCE });
    expect(all['locks:default']).toMatchObject({ elections: states });
    expect(all['locks:other']).not.toHaveProperty('elections');

    await clientOf(app).close();
    await new Promise((resolve) =>
      elections.of('mailer').state$.subscribe({ complete: () => resolve(0) }),
    );
    expect(await check()).toMatchObject({ status: 'down', elections: { mailer: 'closed' } });
  });
});
