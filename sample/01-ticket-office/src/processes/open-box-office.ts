import { AppModule } from '../app.module.js';
import type { CommandLine } from '../command-line.js';
import type { BoxOffice } from './box-office.js';
import { forkOffices } from './fork-offices.js';
import { startApp } from './start-app.js';

/** Starts the app: here, or as often as asked for, in processes of their own. */
export async function openBoxOffice(commandLine: CommandLine): Promise<BoxOffice> {
  const { locks, processes, port } = commandLine;
  if (processes > 1) return forkOffices(processes);
  const app = await startApp(AppModule.register(locks), port);
  return { url: await app.getUrl(), close: () => app.close() };
}
