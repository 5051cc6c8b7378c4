import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, Scope } from '@nestjs/common';
import { lastValueFrom, of, type Observable } from 'rxjs';
import {
  currentLease,
  LockDefaults,
  LockModule,
  LockOptionsError,
  LockStream,
  LockTimeoutError,
  WithMultiLock,
  WithMutex,
  type LockClient,
} from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';

/** Far more than a free lock takes on a busy machine. */
const WAIT = 1_000;

@LockDefaults({
  client: 'orders',
  wait: WAIT,
  onBusy: (error, id) => `${String(id)}: ${error.code}`,
})
class Records {
  @WithMutex('record:{0}')
  async open(id: string): Promise<string> {
    return `${id} is open`;
  }

  @WithMutex('record:{0}', { client: 'default' })
  async openElsewhere(id: string): Promise<string> {
    return `${id} is open`;
  }

  @WithMultiLock(['record:{0}', { key: 'ledger', client: 'default' }])
  async close(id: string): Promise<string> {
    return `${id} is closed`;
  }

  @LockStream('record:{0}')
  follow(id: string): Observable<string> {
    return of(`${id} is new`);
  }
}

@Injectable()
class Orders extends Records {
  @WithMutex('record:{0}', { onBusy: 'throw' })
  async pay(id: string): Promise<string> {
    return `${id} is paid`;
  }
}

@Injectable()
@LockDefaults({ client: 'default', onBusy: 'throw' })
class Bills extends Records {}

@Injectable({ scope: Scope.TRANSIENT })
@LockDefaults({ client: 'orders', onLost: 'ignore' })
class Notes {
  @WithMutex('note', { client: undefined })
  async write(): Promise<string> {
    await currentLease()!.release();
    return 'written';
  }
}

describe('@LockDefaults', () => {
  const apps = new Apps();
  let orders: Orders;
  let bills: Bills;
  let notes: Notes;
  let client: (name: string) => LockClient;
  const take = (name: string, key: string) => client(name).mutex(key).acquire();

  beforeEach(async () => {
    const app = await apps.boot({
      imports: [LockModule.forRoot(), LockModule.forRoot({ name: 'orders' })],
      providers: [Orders, Bills, Notes],
    });
    orders = app.get(Orders);
    bills = app.get(Bills);
    notes = await app.resolve(Notes);
    client = (name) => clientOf(app, name);
  });
  afterEach(() => apps.close());

  it('says what the decorators of the class leave out', async () => {
    await take('orders', 'record:7');
    expect(await orders.open('7')).toBe('7: LOCK_TIMEOUT');
    expect(await orders.close('7')).toBe('7: LOCK_TIMEOUT');
    expect(await lastValueFrom(orders.follow('7'))).toBe('7: LOCK_TIMEOUT');
    expect(await orders.open('8')).toBe('8 is open');
    expect(await lastValueFrom(orders.follow('8'))).toBe('8 is new');
  });

  it('is overruled by the decorators', async () => {
    await take('orders', 'record:7');
    expect(await orders.openElsewhere('7')).toBe('7 is open');
    await take('default', 'record:7');
    expect(await orders.openElsewhere('7')).toBe('7: LOCK_TIMEOUT');
  });

  it('is overruled by single members of several locks', async () => {
    await take('default', 'ledger');
    expect(await orders.close('7')).toBe('7: LOCK_TIMEOUT');
  });

  it('holds for the methods of a subclass too', async () => {
    await take('orders', 'record:7');
    const error = await orders.pay('7').catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).toMatchObject({ client: 'orders', waitedMs: WAIT });
  });

  it('is overruled by that of a subclass, option by option, for what that inherits', async () => {
    await take('orders', 'record:7');
    expect(await bills.open('7')).toBe('7 is open');
    await take('default', 'record:7');
    const error = await bills.open('7').catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', client: 'default', waitedMs: WAIT });
    expect(await orders.openElsewhere('8')).toBe('8 is open'); // the class above is as it was
  });

  it('holds for an option that is given as undefined, and for transient providers', async () => {
    expect(await notes.write()).toBe('written');
    await take('orders', 'note');
    const contended = new Promise((resolve) => client('orders').on('contended', resolve));
    const refusal = { code: 'LOCK_CLIENT_CLOSED', client: 'orders' };
    const refused = expect(notes.write()).rejects.toMatchObject(refusal);
    await contended;
    await apps.close();
    await refused;
  });

  it('keeps an app from starting when its client is unknown', async () => {
    @Injectable()
    @LockDefaults({ client: 'archive' })
    class Archive extends Records {}

    const boot = apps.boot({
      imports: [LockModule.forRoot(), LockModule.forRoot({ name: 'orders' })],
      providers: [Archive],
    });
    await expect(boot).rejects.toMatchObject({ code: 'LOCK_CLIENT_UNKNOWN' });
  });

  it('keeps an app from starting when an inherited option does not go with one of a method', async () => {
    @LockDefaults({ wait: 'forever' })
    class Patient {}

    @Injectable()
    class Hasty extends Patient {
      @WithMutex('hasty', { onBusy: 'skip' })
      async run(): Promise<void> {}
    }

    const boot = apps.boot({ imports: [LockModule.forRoot()], providers: [Hasty] });
    await expect(boot).rejects.toBeInstanceOf(LockOptionsError);
    await expect(boot).rejects.toMatchObject({ option: 'wait', value: 'forever' });
  });
});
