import { Injectable, Module } from '@nestjs/common';
import { LockClients, LockModule, WithMutex, type Mutex } from 'nestjs-interlock';

@Injectable()
export class Desk {
  atDesk = 0;
  mostAtDesk = 0;

  constructor(private readonly clients: LockClients) {}

  @WithMutex('desk:{0}', { wait: 10_000 })
  async serve(_desk: string): Promise<void> {
    this.mostAtDesk = Math.max(this.mostAtDesk, ++this.atDesk);
    await new Promise(setImmediate);
    this.atDesk -= 1;
  }

  @WithMutex('desk:{0}', { onBusy: 'skip' })
  async serveIfFree(_desk: string): Promise<string | undefined> {
    return 'served';
  }

  lockOf(desk: string): Mutex {
    return this.clients.get('default').mutex(`desk:${desk}`);
  }
}

@Module({ imports: [LockModule.forRoot()], providers: [Desk] })
export class AppModule {}
