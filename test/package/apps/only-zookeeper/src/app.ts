import { Module } from '@nestjs/common';
import { LockModule } from 'nestjs-interlock';
import { LockInspectorModule } from 'nestjs-interlock/inspector';
import { LockTestingModule, type LockTesting } from 'nestjs-interlock/testing';

@Module({
  imports: [
    LockModule.forRoot({ backend: 'zookeeper', connect: 'zk:2181' }),
    LockModule.forRootAsync({ name: 'local', useFactory: () => ({ backend: 'embedded' }) }),
  ],
})
export class AppModule {}

@Module({ imports: [LockInspectorModule.forRoot(), LockTestingModule.forRoot()] })
export class EntriesModule {}

export const spoil = (locks: LockTesting) => locks.loseLease('desk:a');
