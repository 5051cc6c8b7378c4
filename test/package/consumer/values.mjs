// What an entry declares as a value is one: else a compiler lets through what fails when the app starts.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';

for (const entry of ['', '/core', '/health', '/inspector', '/opentelemetry', '/testing']) {
  const specifier = `nestjs-interlock${entry}`;
  const url = import.meta.resolve(specifier).replace('/dist/', '/dist/cjs/').replace(/js$/, 'd.ts');
  const exported = [...readFileSync(new URL(url), 'utf8').matchAll(/^export \{ (.+?) \}/gm)];
  const names = exported.flatMap(([, list]) => list.split(', '));
  const values = names.filter((name) => !name.startsWith('type '));
  const there = await import(specifier);
  const missing = values.filter((name) => !(name.split(' as ').at(-1) in there));
  if (values.length === 0 || missing.length > 0)
    throw new Error(`${specifier} declares ${values.length} values, but it has no ${missing}.`);
}
