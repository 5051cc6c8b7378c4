import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

/** The app, until the main process ends it. */
export async function startReplica(): Promise<void> {
  // Ctrl-C goes to every process of the terminal; the main one tells us when to end.
  process.on('SIGINT', () => {});
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
  app.enableShutdownHooks(['SIGTERM']);
  process.send!('ready');
}
