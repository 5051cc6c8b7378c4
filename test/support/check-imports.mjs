// Checks the imports of lib/: every arrow runs the allowed way, and there are no cycles, of types neither.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import ts from 'typescript';

/** What each folder of lib/ may import: folders of lib/, and packages. A folder that is not named may import all. */
const ALLOWED = {
  core: { folders: [], packages: [] },
  zookeeper: { folders: ['core'], packages: ['zookeeper'] },
  redis: { folders: ['core'], packages: ['ioredis', 'cluster-key-slot'] },
  embedded: { folders: ['core', 'zookeeper'], packages: [] },
  interfaces: { folders: ['core', 'embedded', 'redis', 'zookeeper'], packages: ['@nestjs'] },
  plans: { folders: ['core', 'interfaces', '.'], packages: ['@nestjs', 'rxjs'] },
  decorators: { folders: ['core', 'interfaces', 'plans', '.'], packages: ['@nestjs', 'rxjs'] },
  clients: {
    folders: ['core', 'embedded', 'interfaces', 'redis', 'zookeeper', '.'],
    packages: ['@nestjs'],
  },
  elections: {
    folders: ['core', 'clients', 'interfaces', 'plans', '.'],
    packages: ['@nestjs', 'rxjs'],
  },
  interceptors: {
    folders: ['core', 'clients', 'elections', 'interfaces', 'plans', '.'],
    packages: ['@nestjs', 'rxjs'],
  },
  // Entries of their own, which nothing else imports.
  filters: { folders: ['core'], packages: ['@nestjs'] },
  health: { folders: ['core', 'clients', 'elections', '.'], packages: ['@nestjs'] },
  inspector: { folders: ['core', 'clients', '.'], packages: ['@nestjs', 'rxjs'] },
  opentelemetry: { folders: ['core', '.'], packages: ['@nestjs', '@opentelemetry'] },
  testing: {
    folders: ['core', 'embedded', 'interceptors', 'interfaces', 'redis', 'zookeeper', '.'],
    packages: ['@nestjs', 'rxjs'],
  },
};

const files = readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(file)]));
const faults = [...files.flatMap(forbidden), ...cycles()];
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}

function importsOf(file) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join('lib', file), 'utf8'));
  return importedFiles.map(({ fileName }) =>
    fileName.startsWith('.')
      ? { file: normalize(join(dirname(file), fileName)).replace(/\.js$/, '.ts') }
      : { name: fileName },
  );
}

function folderOf(file) {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : '.';
}

function forbidden(file) {
  const folder = folderOf(file);
  const allowed = ALLOWED[folder];
  if (!allowed) return [];
  return imports
    .get(file)
    .filter((to) => {
      if (to.file) return ![folder, ...allowed.folders].includes(folderOf(to.file));
      return !to.name.startsWith('node:') && !allowed.packages.includes(to.name.split('/')[0]);
    })
    .map((to) => `lib/${file} must not import ${to.file ? `lib/${to.file}` : to.name}`);
}

function cycles() {
  const found = [];
  const done = new Set();
  const walk = (file, path) => {
    const start = path.indexOf(file);
    if (start >= 0) return found.push(['Import cycle:', ...path.slice(start), file].join('\n  '));
    if (done.has(file)) return;
    for (const to of imports.get(file) ?? []) if (to.file) walk(to.file, [...path, file]);
    done.add(file);
  };
  files.forEach((file) => walk(file, []));
  return found;
}
