import { expect, it } from '@jest/globals';
import { WireTransport } from '../../../lib/zookeeper/wire/wire-transport.js';
import { tier } from '../../support/tier.js';
import { transportOf, useDriver } from '../../support/zookeeper-driver.js';

useDriver('wire');

it('All of these tests use the driver "wire"', async () => {
  expect(await transportOf()).toBeInstanceOf(WireTransport);
});

await import('./access-control.spec.js');
await import('./connection.spec.js');
await import('./mutex-nodes.spec.js');
await import('./mutex-outages.spec.js');
if (tier === 'long') await import('./ensemble.spec.js');
