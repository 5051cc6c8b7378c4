import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { LockModule, type LockModuleOptions } from 'nestjs-interlock';
import { LiveController } from './live/live.controller.js';
import { LockErrorFilter } from './lock-error.filter.js';
import { PurchasesController } from './office/purchases.controller.js';
import { TicketOffice } from './office/ticket-office.service.js';
import { RushService } from './rush/rush.service.js';
import { RushesController } from './rush/rushes.controller.js';
import { MemorySeatStore } from './seats/memory-seat-store.js';
import { RemoteSeatStore } from './seats/remote-seat-store.js';
import { SeatStore } from './seats/seat-store.js';

@Module({})
export class AppModule {
  /**
   * @param locks where the locks are; `{}` means in this process
   * @param storeUrl where the seats are counted; in this process without it
   */
  static register(locks: LockModuleOptions, storeUrl?: string): DynamicModule {
    const store = storeUrl === undefined ? new MemorySeatStore() : new RemoteSeatStore(storeUrl);
    return {
      module: AppModule,
      imports: [LockModule.forRoot(locks)],
      providers: [
        TicketOffice,
        RushService,
        { provide: SeatStore, useValue: store },
        { provide: APP_FILTER, useClass: LockErrorFilter },
      ],
      controllers: [LiveController, PurchasesController, RushesController],
    };
  }
}
