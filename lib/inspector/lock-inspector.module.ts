import { Module, type DynamicModule } from '@nestjs/common';
import { inspectorController } from './inspector.controller.js';
import { LockInspector } from './lock-inspector.js';
import {
  inspectorSettings,
  LOCK_INSPECTOR_SETTINGS,
  type LockInspectorOptions,
} from './lock-inspector-options.interface.js';

/**
 * Shows the locks of the application, across all of its processes that import this module: as a page, and through the
 * service `LockInspector`.
 */
@Module({})
export class LockInspectorModule {
  /**
   * Import it once, next to `LockModule`.
   *
   * @throws LockOptionsError
   * @example
   * ```ts
   * LockInspectorModule.forRoot({ path: 'locks', guards: [AdminGuard] })
   * ```
   */
  static forRoot(options: LockInspectorOptions = {}): DynamicModule {
    const settings = inspectorSettings(options);
    return {
      module: LockInspectorModule,
      imports: options.imports ?? [],
      controllers: options.path === false ? [] : [inspectorController(options)],
      providers: [LockInspector, { provide: LOCK_INSPECTOR_SETTINGS, useValue: settings }],
      exports: [LockInspector],
    };
  }
}
