import 'reflect-metadata';
import * as interlock from 'nestjs-interlock';
import { assertDriversAbsent, takeLock } from './use.cjs';

await assertDriversAbsent(interlock);
await takeLock(interlock);
