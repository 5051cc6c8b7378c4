import { LockTimeoutError, type LockClient } from 'nestjs-interlock';
import { LockTestingModule } from 'nestjs-interlock/testing';

export const imports = [LockTestingModule.forRoot()];
export const take = (client: LockClient) => client.mutex('seat').acquire({ wait: 1000 });
export const isTimeout = (error: unknown): boolean => error instanceof LockTimeoutError;
