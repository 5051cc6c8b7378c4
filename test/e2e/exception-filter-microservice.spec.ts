import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, type INestApplication, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import {
  ClientProxyFactory,
  MessagePattern,
  Transport,
  type ClientProxy,
} from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { lastValueFrom } from 'rxjs';
import { LockExceptionFilter } from '../../lib/index.js';
import { freePorts } from '../support/free-ports.js';
import { lockFailures } from './support/lock-failures.js';

@Controller()
class Seats {
  @MessagePattern('fail')
  async fail(code: string): Promise<never> {
    throw lockFailures[code]!;
  }
}

describe('A microservice with LockExceptionFilter', () => {
  let app: INestApplication;
  let client: ClientProxy;

  afterEach(async () => {
    void client.close();
    await app.close();
  });

  async function answerOf(providers: Provider[]): Promise<unknown> {
    const [port] = await freePorts(1, '127.0.0.1');
    const service = { transport: Transport.TCP, options: { host: '127.0.0.1', port } } as const;
    const module = await Test.createTestingModule({ controllers: [Seats], providers }).compile();
    app = module.createNestApplication({ logger: false });
    app.connectMicroservice(service, { inheritAppConfig: true });
    await app.startAllMicroservices();
    client = ClientProxyFactory.create(service);
    return lastValueFrom(client.send('fail', 'LOCK_TIMEOUT')).catch((error: unknown) => error);
  }

  it.each([
    ['without it', []],
    ['with it as a global filter', [{ provide: APP_FILTER, useClass: LockExceptionFilter }]],
  ])('answers as Nest does, %s', async (_, providers) => {
    expect(await answerOf(providers)).toEqual({
      status: 'error',
      message: 'Internal server error',
    });
  });
});
