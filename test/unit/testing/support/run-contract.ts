import type { ContractRunner } from '../../../../lib/testing/index.js';

type Step = () => Promise<void>;

/** What stands in one `describe`. */
interface Block {
  readonly path: readonly string[];
  readonly before: Step[];
  readonly after: Step[];
}

/** Runs a contract by itself, as a test runner of its own, and returns the names of the cases that failed. */
export async function runContract(define: (runner: ContractRunner) => void): Promise<string[]> {
  const cases: { readonly name: string; readonly body: Step; readonly block: Block }[] = [];
  let block: Block = { path: [], before: [], after: [] };
  define({
    describe: (name, body) => {
      const outer = block;
      const { path, before, after } = outer;
      block = { path: [...path, name], before: [...before], after: [...after] };
      body();
      block = outer;
    },
    it: (name, body) => void cases.push({ name: [...block.path, name].join(' '), body, block }),
    beforeEach: (body) => void block.before.push(body),
    afterEach: (body) => void block.after.push(body),
  });
  const failed: string[] = [];
  for (const { name, body, block } of cases) {
    for (const step of block.before) await step();
    await body().catch(() => failed.push(name));
    for (const step of block.after) await step();
  }
  return failed;
}
