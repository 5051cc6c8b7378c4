import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** The options that an interface or a type of a file names itself, each with its `@default`, or an empty text. */
export function optionsOf(path: string, type: string): Map<string, string> {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.ES2023,
    true,
  );
  const found = new Map<string, string>();
  for (const statement of source.statements) {
    const isThere = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    if (isThere && statement.name.text === type) visit(statement);
  }
  return found;

  function visit(node: ts.Node): void {
    if (ts.isPropertySignature(node)) found.set(node.name.getText(), defaultOf(node));
    else ts.forEachChild(node, visit); // not into the type of an option
  }
}

function defaultOf(property: ts.PropertySignature): string {
  const tag = ts.getJSDocTags(property).find(({ tagName }) => tagName.text === 'default');
  return (ts.getTextOfJSDocComment(tag?.comment) ?? '').trim();
}
