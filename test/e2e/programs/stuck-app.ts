// A Nest app with a job under the lock `bill` that never ends, and that nothing but the lock keeps alive.
// It sends its pid when the job runs, and `closed` when it has closed itself, at the message `close`.
// Argument: the options of LockModule.forRoot, as JSON.
import 'reflect-metadata';
import { once } from 'node:events';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockModule, WithMutex, type LockModuleOptions } from '../../../lib/index.js';

let begun!: () => void;
const running = new Promise<void>((resolve) => (begun = resolve));

@Injectable()
class Jobs {
  @WithMutex('bill')
  async bill(): Promise<void> {
    begun();
    await new Promise(() => {});
  }
}

@Module({
  imports: [LockModule.forRoot(JSON.parse(process.argv[2]!) as LockModuleOptions)],
  providers: [Jobs],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.enableShutdownHooks();
void app.get(Jobs).bill();
await running;
process.send!(process.pid);
await once(process, 'message');
await app.close();
process.send!('closed', () => process.disconnect());
