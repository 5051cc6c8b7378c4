import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { ApolloServer } from '@apollo/server';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Injectable, type INestApplication } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { Transport } from '@nestjs/microservices';
import { WebSocket } from 'ws';
import { freePorts } from '../../support/processes.js';

/** Starts the Apollo server of an app, and leaves it to the test to ask that: no request goes through the network. */
@Injectable()
class ApolloDriverWithoutHttp extends ApolloDriver {
  override async registerServer({ schema, plugins }: ApolloDriverConfig): Promise<void> {
    this.apolloServer = new ApolloServer({ schema: schema!, plugins: plugins! });
    await this.apolloServer.start();
  }
}

export const graphql = () =>
  GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriverWithoutHttp,
    autoSchemaFile: true,
  });

/** What a GraphQL query is answered with. */
export async function execute(app: INestApplication, query: string) {
  const { graphQlAdapter } = app.get<GraphQLModule<ApolloDriver>>(GraphQLModule);
  const { body, http } = await graphQlAdapter.instance.executeOperation({ query });
  if (body.kind !== 'single') throw new Error('The answer comes in parts.');
  return { ...body.singleResult, headers: http.headers };
}

/** The options of a microservice on a free port, and of its clients. */
export async function tcpService() {
  const [port] = await freePorts(1, '127.0.0.1');
  return { transport: Transport.TCP, options: { host: '127.0.0.1', port } } as const;
}

/** A WebSocket to an app that listens. */
export async function openSocket(app: INestApplication): Promise<WebSocket> {
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(socket, 'open');
  return socket;
}

/** Sends a message; resolves to the next that comes back. */
export async function ask(socket: WebSocket, message: object): Promise<unknown> {
  const answer = once(socket, 'message');
  socket.send(JSON.stringify(message));
  const [text] = await answer;
  return JSON.parse(String(text));
}
