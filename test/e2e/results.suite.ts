import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { clientOf } from './support/apps.js';
import type { DyingServer } from './support/dying-server.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

const START_TIMEOUT = 60_000;

/** A service that locks by that decorator. */
function serviceThat({ lock, decorator }: LockKind) {
  @Injectable()
  class Orders {
    @lock(`${decorator}:{0}`)
    async run<T>(_key: string, body: () => Promise<T>): Promise<T> {
      return body();
    }
  }

  return Orders;
}

/** What the caller of a locked method gets: all that the method gives, whatever becomes of its lock. */
export function resultsSuite(backend: string, start: () => Promise<DyingServer>): void {
  const services = LOCK_KINDS.map(serviceThat);

  describe(`The caller of a locked method on ${backend} gets`, () => {
    let server: DyingServer;
    let app: INestApplication;

    beforeAll(async () => {
      server = await start();
      app = await server.boot({ providers: services });
    }, START_TIMEOUT);
    afterAll(() => server?.end());

    const each = <T>(call: (service: InstanceType<(typeof services)[0]>) => Promise<T>) =>
      services.map((service) => call(app.get(service)));

    it('the very object that the method returns', async () => {
      const result = { total: 3 };
      const results = await Promise.all(each((orders) => orders.run('1', async () => result)));
      for (const given of results) expect(given).toBe(result);
    });

    it('the very error that the method throws', async () => {
      const error = new RangeError('no such order');
      const calls = each((orders) => orders.run('1', () => Promise.reject(error)));
      await Promise.all(calls.map((call) => expect(call).rejects.toBe(error)));
    });

    it(
      'both when the server has died before the release, and the locks are free when it is back',
      async () => {
        const result = { total: 3 };
        const error = new RangeError('no such order');
        const goOn = new Deferred();
        let inside = 0;
        const stay = async () => {
          inside += 1;
          await goOn.promise;
          return result;
        };
        const calls = each((orders) => orders.run('1', stay));
        const failing = app
          .get(services[0]!)
          .run('2', () => stay().then(() => Promise.reject(error)));
        await eventually('all hold', () => inside === calls.length + 1);

        await server.die();
        goOn.resolve();
        await expect(failing).rejects.toBe(error);
        for (const given of await Promise.all(calls)) expect(given).toBe(result);

        await server.comeBack();
        const client = clientOf(app);
        for (const kind of LOCK_KINDS) {
          const rival = kind.rival(client, `${kind.decorator}:1`);
          await (await rival.acquire({ wait: 20_000 })).release();
        }
      },
      START_TIMEOUT,
    );
  });
}
