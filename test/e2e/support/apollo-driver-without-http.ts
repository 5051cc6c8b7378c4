import { ApolloServer } from '@apollo/server';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Injectable } from '@nestjs/common';

/** Starts the Apollo server of an app, and leaves it to the test to ask that: no request goes through the network. */
@Injectable()
export class ApolloDriverWithoutHttp extends ApolloDriver {
  override async registerServer({ schema, plugins }: ApolloDriverConfig): Promise<void> {
    this.apolloServer = new ApolloServer({ schema: schema!, plugins: plugins! });
    await this.apolloServer.start();
  }
}
