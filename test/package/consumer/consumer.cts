import { LockModule, LockTimeoutError, type LockClient } from 'nestjs-interlock';

export const imports = [LockModule.forRoot()];
export const take = (client: LockClient) => client.mutex('seat').acquire({ wait: 1000 });
export const isTimeout = (error: unknown): boolean => error instanceof LockTimeoutError;
