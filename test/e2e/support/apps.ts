import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { getLockClientToken, type LockClient } from '../../../lib/index.js';

/** The apps of one test; `close` ends them. */
export class Apps {
  readonly #open = new Set<INestApplication>();

  /** Builds and initialises an app. */
  async boot(
    metadata: ModuleMetadata,
    change: (builder: TestingModuleBuilder) => TestingModuleBuilder = (builder) => builder,
  ): Promise<INestApplication> {
    const compiled = await change(Test.createTestingModule(metadata)).compile();
    const app = compiled.createNestApplication();
    this.#open.add(app);
    return app.init();
  }

  /** Boots an app that listens on a free port of the loopback interface. */
  async serve(metadata: ModuleMetadata): Promise<INestApplication> {
    const app = await this.boot(metadata);
    await app.listen(0, '127.0.0.1');
    return app;
  }

  /** Closes one app, or all that are open. */
  async close(app?: INestApplication): Promise<void> {
    const closing = app === undefined ? [...this.#open] : [app];
    for (const each of closing) this.#open.delete(each);
    await Promise.all(closing.map((each) => each.close()));
  }
}

/** The lock client of that name. */
export function clientOf(app: INestApplication, name?: string): LockClient {
  return app.get(getLockClientToken(name));
}
