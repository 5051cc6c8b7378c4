// Runs a sample from its sources: `npm run sample -- 03`. What comes behind the number is for the sample.
import { readdirSync } from 'node:fs';

const samples = readdirSync(import.meta.dirname).filter((name) => /^0[2-9]-/.test(name));
const [, , number] = process.argv;
const sample = samples.find((name) => name.split('-')[0] === number?.padStart(2, '0'));
if (sample === undefined) {
  console.error(`Which sample? ${samples.join(', ')}`);
  process.exitCode = 1;
} else {
  await import(`./${sample}/src/main.js`);
}
