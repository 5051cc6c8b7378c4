import { createLockClient, withLock } from 'nestjs-interlock/core';
import { useLocks } from './use.cjs';

await useLocks({ createLockClient, withLock });
