// Lets plain Node run the TypeScript of this project: `node --import ./test/support/typescript-loader.mjs file.ts`.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
