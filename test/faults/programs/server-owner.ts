// Starts a Redis server of the tests, and says its process and its folder; does nothing else.
import { RedisServer } from '../../support/redis-server.js';

const server = await RedisServer.start();
const info = String(await server.command('INFO', 'server'));
const [, folder] = (await server.command('CONFIG', 'GET', 'dir')) as string[];
process.send!({ pid: Number(/^process_id:(\d+)/m.exec(info)![1]), folder });
