export type { EmbeddedLockOptions } from './create-embedded-lock-client.js';
