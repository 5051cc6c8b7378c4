// A CommonJS library of an ES module's app: a locked method and a provider that injects the client.
const { Injectable, Module } = require('@nestjs/common');
const { InjectLockClient, WithMutex } = require('nestjs-interlock');
const { decorate } = require('./decorate.cjs');

class Stock {
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

class StockModule {}
Module({ providers: [Stock], exports: [Stock] })(StockModule);

module.exports = { Stock, StockModule };
