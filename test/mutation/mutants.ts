import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A small bug to plant: `text` instead of what stands between two places of a file. */
export interface Mutant {
  /** Path below the project. */
  readonly file: string;
  readonly line: number;
  /** The change, for the report. */
  readonly change: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '&&': '||',
  '||': '&&',
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '-': '+',
  '*': '/',
};

/** In Lua: a command that is left out, a comparison that is turned around. */
const LUA: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/^[ \t]*redis\.call\(.*\)$/gm, () => 'local _ = nil'],
  [/==|~=/g, (found) => (found === '==' ? '~=' : '==')],
  [/ (?:<|>)=? /g, (found) => ` ${SWAPPED[found.trim()]} `],
];

/**
 * A sample of all mutants of some folders of `lib`. A mutant is in or out by its own text and place in its file's lines, so
 * that a change elsewhere does not choose others.
 */
export function sampleMutants(folders: readonly string[], count: number, seed: number): Mutant[] {
  const rank = ({ file, change, line }: Mutant) =>
    createHash('sha256').update(`${seed} ${file} ${line} ${change}`).digest('hex');
  const files = folders.flatMap((folder) => filesIn(join('lib', folder)));
  const ranked = files.flatMap(mutantsOf).map((mutant) => [rank(mutant), mutant] as const);
  const sorted = ranked.sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.slice(0, count).map(([, mutant]) => mutant);
}

function filesIn(path: string): string[] {
  if (/\.(ts|lua)$/.test(path)) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|lua)$/.test(name) && !/(?:^|\/)index\.ts$|\.interface\.ts$/.test(name))
    .map((name) => join(path, name));
}

function mutantsOf(file: string): Mutant[] {
  const text = readFileSync(file, 'utf8');
  const lineAt = (start: number) => text.slice(0, start).split('\n').length;
  const mutants: Mutant[] = [];
  const plant = (start: number, end: number, replacement: string) => {
    const [before, after] = [text.slice(start, end), replacement].map((code) =>
      code.trim().replace(/\s+/g, ' ').slice(0, 100),
    );
    const change = `${before}  →  ${after}`;
    mutants.push({ file, line: lineAt(start), change, start, end, text: replacement });
  };
  if (file.endsWith('.lua')) {
    for (const [pattern, replace] of LUA)
      for (const { 0: found, index } of text.matchAll(pattern))
        plant(index, index + found.length, replace(found));
    return mutants;
  }
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const visit = (node: ts.Node): void => {
    const put = (target: ts.Node, replacement: string) =>
      plant(target.getStart(source), target.getEnd(), replacement);
    if (ts.isIfStatement(node) || ts.isWhileStatement(node))
      put(node.expression, `!(${node.expression.getText(source)})`);
    if (ts.isConditionalExpression(node))
      put(node.condition, `!(${node.condition.getText(source)})`);
    if (ts.isBinaryExpression(node)) {
      const swapped = SWAPPED[node.operatorToken.getText(source)];
      if (swapped) put(node.operatorToken, swapped);
      if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
        put(node, node.left.getText(source));
    }
    if (node.kind === ts.SyntaxKind.TrueKeyword && isValue(node)) put(node, 'false');
    if (node.kind === ts.SyntaxKind.FalseKeyword && isValue(node)) put(node, 'true');
    if (ts.isExpressionStatement(node)) {
      const { expression } = node;
      if (
        ts.isCallExpression(expression) &&
        expression.expression.kind !== ts.SyntaxKind.SuperKeyword
      )
        put(node, ';');
      if (ts.isAwaitExpression(expression)) {
        put(node, ';');
        put(node, `void ${expression.expression.getText(source)};`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}

/** And not a type. */
const isValue = (node: ts.Node) => !ts.isLiteralTypeNode(node.parent);
