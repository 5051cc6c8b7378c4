import { Module } from '@nestjs/common';
import { LockInspectorModule } from 'nestjs-interlock/inspector';
import { LockTestingModule, type LockTesting } from 'nestjs-interlock/testing';

@Module({ imports: [LockInspectorModule.forRoot(), LockTestingModule.forRoot()] })
export class EntriesModule {}

export const spoil = (locks: LockTesting) => locks.loseLease('desk:a');
