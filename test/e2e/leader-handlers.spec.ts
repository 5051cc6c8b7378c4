import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Injectable, type INestApplication, type ModuleMetadata } from '@nestjs/common';
import {
  LeaderElections,
  LeaderOnly,
  LockDefaults,
  LockLostError,
  LockModule,
  OnLeadership,
  OnLeadershipLost,
  WithMutex,
  type Leadership,
} from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { eventually } from '../support/eventually.js';
import { Apps, clientOf } from './support/apps.js';
import { RecordingLogger } from './support/recording-logger.js';

const apps = new Apps();
let logger: RecordingLogger;
beforeEach(() => void (logger = new RecordingLogger()));
afterEach(() => apps.close());

const boot = (metadata: ModuleMetadata): Promise<INestApplication> =>
  apps.boot(metadata, (builder) => builder.setLogger(logger));
const leading = (app: INestApplication, name = 'mailer', client?: string) =>
  eventually('it leads', () => app.get(LeaderElections).of(name, { client }).isLeader);

@Injectable()
class Mailer {
  readonly log: string[] = [];
  leadership?: Leadership;
  loss?: LockLostError;

  onApplicationBootstrap() {
    this.log.push('up');
  }

  @OnLeadership('mailer')
  begin(leadership: Leadership): void {
    this.leadership = leadership;
    this.log.push('begin');
  }

  @OnLeadership('mailer')
  async watch({ signal, isHeld }: Leadership): Promise<void> {
    this.log.push(`watch, held: ${isHeld}`);
    signal.addEventListener('abort', () => this.log.push('aborted'));
  }

  @OnLeadershipLost('mailer')
  end(loss?: LockLostError): void {
    this.loss = loss;
    this.log.push('end');
  }
}

const LED = ['up', 'begin', 'watch, held: true'];

describe.each(['provider', 'controller'] as const)('Methods of a %s', (place) => {
  @Controller()
  class MailController extends Mailer {}

  const locked = (): ModuleMetadata =>
    place === 'provider'
      ? { imports: [LockModule.forRoot()], providers: [Mailer] }
      : { imports: [LockModule.forRoot()], controllers: [MailController] };
  const mailerOf = (app: INestApplication) =>
    app.get<Mailer>(place === 'provider' ? Mailer : MailController);

  it('are called in their order when the app leads, once it is up, and when it shuts down', async () => {
    const app = await boot(locked());
    const mailer = mailerOf(app);
    await eventually('they were called', () => mailer.log.length >= LED.length);
    expect(mailer.log).toEqual(LED);
    expect(mailer.leadership).toBe(app.get(LeaderElections).of('mailer').leadership);
    expect(mailer.leadership!.isHeld).toBe(true);

    await apps.close(app);
    expect(mailer.log).toEqual([...LED, 'aborted', 'end']);
    expect(mailer.loss).toBeUndefined();
    expect(mailer.leadership!.isHeld).toBe(false);
    expect(mailer.leadership!.signal.reason).toBeInstanceOf(LockLostError);
  });
});

describe('Methods that are notified of a leadership', () => {
  it('are notified of its loss, with the reason, and of the next one', async () => {
    const app = await boot({ imports: [LockTestingModule.forRoot()], providers: [Mailer] });
    const [locks, mailer] = [app.get(LockTesting), app.get(Mailer)];
    await locks.advance(0);
    await locks.loseLease('mailer');
    await locks.advance(2_000);
    expect(mailer.log).toEqual([...LED, 'aborted', 'end', ...LED.slice(1)]);
    expect(mailer.loss).toBeInstanceOf(LockLostError);

    await locks.suspend();
    expect(mailer.log.slice(-2)).toEqual(['aborted', 'end']);
    await apps.close(app);
    expect(mailer.log.filter((each) => each === 'end')).toHaveLength(2); // it did not lead any more
  });

  it('do no harm when they fail: the failure is logged', async () => {
    @Injectable()
    class Clumsy {
      calls = 0;

      @OnLeadership('mailer')
      throwing() {
        this.calls += 1;
        throw new RangeError('no paper');
      }

      @OnLeadership('mailer')
      async rejecting() {
        this.calls += 1;
        throw new RangeError('no ink');
      }

      @OnLeadershipLost('mailer')
      async end() {
        this.calls += 1;
        throw new RangeError('no light');
      }
    }
    const app = await boot({ imports: [LockModule.forRoot()], providers: [Clumsy, Mailer] });
    await eventually('the others were called', () => app.get(Mailer).log.length === LED.length);
    expect(app.get(LeaderElections).of('mailer').isLeader).toBe(true);
    await apps.close(app);
    expect(app.get(Clumsy).calls).toBe(3);
    expect(app.get(Mailer).log).toEqual([...LED, 'aborted', 'end']);
    expect(logger.lines.filter((line) => line.startsWith('error'))).toEqual([
      'error: Clumsy.throwing failed',
      'error: Clumsy.rejecting failed',
      'error: Clumsy.end failed',
    ]);
  });

  it('are those of the classes above, too, each once', async () => {
    const symbol = Symbol('begin');

    @Injectable()
    class Special extends Mailer {
      @OnLeadership('mailer')
      override begin(leadership: Leadership) {
        this.log.push('special');
        super.begin(leadership);
      }

      override end() {
        this.log.push('special end');
      }

      @OnLeadership('mailer')
      [symbol]() {
        this.log.push('symbol');
      }
    }
    const app = await boot({
      imports: [LockModule.forRoot()],
      providers: [Special, { provide: 'alias', useExisting: Special }],
    });
    const { log } = app.get(Special);
    await leading(app);
    await apps.close(app);
    expect(log).toEqual([
      'up',
      'special',
      'begin',
      'symbol',
      'watch, held: true',
      'aborted',
      'special end',
    ]);
  });

  it('take the client of the decorator, else that of @LockDefaults', async () => {
    @Injectable()
    @LockDefaults({ client: 'other', wait: 100 })
    class Postman {
      readonly log: string[] = [];

      @OnLeadership('mailer')
      byDefault() {
        this.log.push('other');
      }

      @OnLeadership('mailer', { client: 'default' })
      named() {
        this.log.push('default');
      }

      @LeaderOnly('mailer')
      async run(): Promise<string | undefined> {
        return 'ran';
      }
    }
    const app = await boot({
      imports: [LockModule.forRoot(), LockModule.forRoot({ name: 'other' })],
      providers: [Postman],
    });
    await leading(app);
    await leading(app, 'mailer', 'other');
    expect(app.get(Postman).log.sort()).toEqual(['default', 'other']);
    await clientOf(app).close();
    expect(await app.get(Postman).run()).toBe('ran'); // by the other
  });

  it('may be guarded themselves', async () => {
    @Injectable()
    class Careful {
      readonly log: unknown[] = [];

      @OnLeadership('mailer')
      @WithMutex('desk')
      async below({ key }: Leadership): Promise<void> {
        this.log.push(key);
      }

      @LeaderOnly('mailer')
      @OnLeadership('mailer')
      async above({ key }: Leadership): Promise<void> {
        this.log.push(key);
      }
    }
    const app = await boot({ imports: [LockModule.forRoot()], providers: [Careful] });
    await eventually('both have run', () => app.get(Careful).log.length === 2);
    expect(app.get(Careful).log).toEqual(['mailer', 'mailer']);
  });
});
