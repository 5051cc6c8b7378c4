import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/**
 * Starts a Nest app that serves on this machine only.
 *
 * @param port 0: any that is free
 */
export async function startApp(
  module: Type | DynamicModule,
  port: number,
): Promise<INestApplication> {
  const app = await NestFactory.create(module, {
    // What keeps it from starting is the caller's to tell, in one line.
    logger: false,
    abortOnError: false,
    forceCloseConnections: true, // a browser may keep one open
  });
  try {
    await app.listen(port, '127.0.0.1');
    app.useLogger(['warn', 'error']);
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}
