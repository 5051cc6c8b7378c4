import { Controller, ParseBoolPipe, ParseIntPipe, Post, Query } from '@nestjs/common';
import type { RushResult } from './rush-result.js';
import { RushService } from './rush.service.js';

@Controller('rushes')
export class RushesController {
  constructor(private readonly rush: RushService) {}

  @Post()
  start(
    @Query('locked', ParseBoolPipe) locked: boolean,
    @Query('latency', ParseIntPipe) latency: number,
  ): Promise<RushResult> {
    return this.rush.run(locked, latency);
  }
}
