import { Controller, ParseBoolPipe, Post, Query } from '@nestjs/common';
import type { Sale } from './sale.js';
import { TicketOffice } from './ticket-office.service.js';

@Controller('purchases')
export class PurchasesController {
  constructor(private readonly office: TicketOffice) {}

  @Post()
  async buy(@Query('locked', ParseBoolPipe) locked: boolean): Promise<Sale> {
    if (locked) return this.office.sellAlone(performance.now());
    return { seat: await this.office.sell(), waitedMs: 0 };
  }
}
