import { tier } from '../../support/tier.js';

// Before the files below are loaded: they take their driver from it.
process.env.ZOOKEEPER_DRIVER = 'wire';

await import('./access-control.spec.js');
await import('./connection.spec.js');
await import('./mutex-nodes.spec.js');
await import('./mutex-outages.spec.js');
if (tier === 'long') await import('./ensemble.spec.js');
