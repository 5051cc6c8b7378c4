import { Module, type DynamicModule } from '@nestjs/common';
import { LOCK_TRACER, LockOptionsError } from '../index.js';
import { HoldTracer } from './hold-tracer.js';
import type { LockTelemetryOptions } from './lock-telemetry-options.js';
import { LOCK_TELEMETRY_OPTIONS } from './lock-telemetry.constants.js';
import { LockTelemetry } from './lock-telemetry.js';

/**
 * Makes spans and metrics of all locks of the app, with the global providers of OpenTelemetry. Import it in the root module,
 * beside `LockModule`; without an SDK it does nothing.
 */
@Module({})
export class LockTelemetryModule {
  /**
   * Turns it on.
   *
   * @throws LockOptionsError
   * @example
   * ```ts
   * @Module({ imports: [LockModule.forRoot(), LockTelemetryModule.forRoot()] })
   * export class AppModule {}
   * ```
   */
  static forRoot(options: LockTelemetryOptions = {}): DynamicModule {
    const { keys = false, minWait = 1 } = options;
    if (!Number.isFinite(minWait) || minWait < 0)
      throw new LockOptionsError('minWait', minWait, 'milliseconds from 0 on');
    return {
      module: LockTelemetryModule,
      global: true,
      providers: [
        { provide: LOCK_TELEMETRY_OPTIONS, useValue: { keys, minWait } },
        { provide: LOCK_TRACER, useClass: HoldTracer },
        LockTelemetry,
      ],
      exports: [LOCK_TRACER],
    };
  }
}
