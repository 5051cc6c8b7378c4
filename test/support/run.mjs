// Runs a TypeScript file of the project in plain Node: `node test/support/run.mjs FILE`, and what the file expects behind it.
import { resolve } from 'node:path';
import compile, { compiled } from './compile.mjs';

compile();
process.argv.splice(1, 2, compiled(resolve(process.argv[2])));
await import(process.argv[1]);
