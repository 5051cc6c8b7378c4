import { Module } from '@nestjs/common';
import { Cluster, Redis } from 'ioredis';
import { LockModule } from 'nestjs-interlock';

@Module({
  imports: [
    LockModule.forRoot({ backend: 'redis', client: new Redis() }),
    LockModule.forRoot({ backend: 'redis', name: 'cluster', client: new Cluster([]) }),
    LockModule.forRoot({ backend: 'redis', name: 'red', nodes: [new Redis(), new Redis(), {}] }),
  ],
})
export class AppModule {}
