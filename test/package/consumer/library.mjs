// The same as an ES module, for an app in CommonJS.
import { Injectable, Module } from '@nestjs/common';
import { InjectLockClient, WithMutex } from 'nestjs-interlock';
import { decorate } from './decorate.cjs';

export class Stock {
  constructor(client) {
    this.client = client;
  }
  async take(then) {
    return then?.();
  }
}
decorate(Stock, { take: WithMutex('stock', { wait: 500 }) });
Injectable()(Stock);
InjectLockClient()(Stock, undefined, 0);

export class StockModule {}
Module({ providers: [Stock], exports: [Stock] })(StockModule);
