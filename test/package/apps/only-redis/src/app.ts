import { Module } from '@nestjs/common';
import { LockModule } from 'nestjs-interlock';
import { LockInspectorModule } from 'nestjs-interlock/inspector';
import { LockTestingModule, type LockTesting } from 'nestjs-interlock/testing';
import { createClient, createCluster } from 'redis';

@Module({
  imports: [
    LockModule.forRoot({ backend: 'redis', client: createClient() }),
    LockModule.forRoot({
      backend: 'redis',
      name: 'cluster',
      client: createCluster({ rootNodes: [] }),
    }),
    LockModule.forRoot({
      backend: 'redis',
      name: 'red',
      nodes: [createClient(), createClient(), { socket: { host: 'redis-3' } }],
    }),
  ],
})
export class AppModule {}

@Module({ imports: [LockInspectorModule.forRoot(), LockTestingModule.forRoot()] })
export class EntriesModule {}

export const spoil = (locks: LockTesting) => locks.loseLease('desk:a');
