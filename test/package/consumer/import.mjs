import 'reflect-metadata';
import * as interlock from 'nestjs-interlock';
import { assertDriverAbsent, takeLock } from './use.cjs';

assertDriverAbsent();
await takeLock(interlock);
