import { Module } from '@nestjs/common';
import { LockModule } from 'nestjs-interlock';

@Module({
  imports: [
    LockModule.forRoot({ backend: 'zookeeper', connect: 'zk:2181' }),
    LockModule.forRootAsync({ name: 'local', useFactory: () => ({}) }),
  ],
})
export class AppModule {}
