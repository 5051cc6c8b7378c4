import { describe } from '@jest/globals';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import { redisExclusionSuite } from './support/redis-exclusion.suite.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';

const anotherJava = {
  title: 'another Java',
  start: (urls: readonly string[]) => startRedissonPeer(urls),
};

// What Redisson does among its own: the ground that the tests with Node stand on.
describeWithRedisson('A lock', anotherJava, (stage) => {
  const listening = () => stage.listening(stage.names.channel);

  describe('that is plain', () => {
    redisExclusionSuite(stage, { kind: 'lock', waiting: listening });
  });
  describe('that is fenced', () => {
    const kept = () => [stage.names.token];
    redisExclusionSuite(stage, { kind: 'fenced', waiting: listening, kept });
  });
  describe('that is fair', () => {
    redisExclusionSuite(stage, { kind: 'fair', waiting: () => stage.queued(1) });
  });
  describe('that is for writing', () => {
    const waiting = () => stage.listening(stage.names.readWriteChannel);
    redisExclusionSuite(stage, { kind: 'write', waiting });
  });
});
