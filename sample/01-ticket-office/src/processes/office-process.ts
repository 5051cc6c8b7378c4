import { AppModule } from '../app.module.js';
import { parseCommandLine } from '../command-line.js';
import { startApp } from './start-app.js';

// One of several processes, with the arguments of the main one.

// Ctrl-C goes to every process of the terminal; the main one tells us when to end.
process.on('SIGINT', () => {});

try {
  const { locks, port } = parseCommandLine(process.argv.slice(2), process.env);
  const app = await startApp(AppModule.register(locks, process.env.STORE_URL), port);
  app.enableShutdownHooks(['SIGTERM']);
} catch (error) {
  console.error(`ticket-office: ${(error as Error).message}`);
  process.exitCode = 1;
  process.disconnect();
}
