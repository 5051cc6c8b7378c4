import { describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import ts from 'typescript';

const FILE = resolve('test/unit/nest/compiler-messages.virtual.ts');
const OPTIONS: ts.CompilerOptions = {
  experimentalDecorators: true,
  module: ts.ModuleKind.NodeNext,
  noEmit: true,
  skipLibCheck: true,
  strict: true,
  target: ts.ScriptTarget.ES2022,
  types: ['node'],
};

/** What the compiler says of a method with that decorator, without line breaks. */
function messagesOf(methods: readonly string[]): string[] {
  const text = [
    "import { LockStream, RunOnce, WithMutex } from '../../../lib/index.js';",
    ...methods.map((method, i) => `export class C${i} { ${method} }`),
  ].join('\n');
  const host = ts.createCompilerHost(OPTIONS);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) =>
    name === FILE ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022) : read(name, ...rest);
  const program = ts.createProgram([FILE], OPTIONS, host);
  const messages: string[] = methods.map(() => '');
  for (const { messageText, start } of program.getSemanticDiagnostics(
    program.getSourceFile(FILE),
  )) {
    const line = text.slice(0, start).split('\n').length - 2;
    messages[line] += ts.flattenDiagnosticMessageText(messageText, ' ');
  }
  return messages;
}

describe('The message of the compiler', () => {
  it('says what to write', () => {
    const [skipped, elsewhere, early, fewer, other] = messagesOf([
      "@WithMutex('k', { onBusy: 'skip' }) async f(): Promise<number> { return 1; }",
      "@RunOnce('k', { atMost: 100 }) async f(): Promise<number> { return 1; }",
      "@LockStream('k', { onBusy: () => 'busy' }) async *f() { yield 1; }",
      '@WithMutex((id: string) => id) async f() {}',
      '@WithMutex((id: string) => id) async f(_id: number) {}',
    ]);
    for (const message of [skipped, elsewhere, early])
      expect(message).toContain('such as `Promise<number | undefined>`');
    expect(fewer).toContain(
      'The method takes fewer arguments than a function of the decorator needs',
    );
    expect(other).toContain("Types of parameters '_id' and 'id' are incompatible");
  });
});
