import { Module } from '@nestjs/common';
import { Cluster, Redis } from 'ioredis';
import { LockModule } from 'nestjs-interlock';
import { LockInspectorModule } from 'nestjs-interlock/inspector';
import { LockTestingModule, type LockTesting } from 'nestjs-interlock/testing';

@Module({
  imports: [
    LockModule.forRoot({ backend: 'redis', client: new Redis() }),
    LockModule.forRoot({ backend: 'redis', name: 'cluster', client: new Cluster([]) }),
    LockModule.forRoot({ backend: 'redis', name: 'red', nodes: [new Redis(), new Redis(), {}] }),
  ],
})
export class AppModule {}

@Module({ imports: [LockInspectorModule.forRoot(), LockTestingModule.forRoot()] })
export class EntriesModule {}

export const spoil = (locks: LockTesting) => locks.loseLease('desk:a');
