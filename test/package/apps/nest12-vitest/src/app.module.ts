import { Module } from '@nestjs/common';
import { LockModule } from 'nestjs-interlock';
import { Desk } from './desk.js';

@Module({ imports: [LockModule.forRoot()], providers: [Desk] })
export class AppModule {}
