/** What each folder of lib/ may import: folders of lib/ (`.`: the files in lib/ itself), and packages. Others may import all. */
const rooms = {
  core: { folders: [], packages: [] },
  zookeeper: { folders: ['core'], packages: ['zookeeper'] },
  redis: { folders: ['core'], packages: ['ioredis', 'redis', 'cluster-key-slot'] },
  embedded: { folders: ['core', 'zookeeper'], packages: [] },
  interfaces: { folders: ['core', 'embedded', 'redis', 'zookeeper'], packages: ['@nestjs'] },
  // The decorators' own logic, and what may be imported without Nest.
  calls: { folders: ['core', 'interfaces', 'plans', '.'], packages: [] },
  standalone: {
    folders: ['calls', 'core', 'embedded', 'interfaces', 'plans', 'redis', 'zookeeper', '.'],
    packages: [],
  },
  plans: { folders: ['core', 'interfaces', '.'], packages: ['@nestjs', 'rxjs', 'cron'] },
  decorators: { folders: ['core', 'interfaces', 'plans', '.'], packages: ['@nestjs', 'rxjs'] },
  clients: {
    folders: ['core', 'interfaces', 'standalone', '.'],
    packages: ['@nestjs'],
  },
  elections: {
    folders: ['core', 'clients', 'interfaces', 'plans', '.'],
    packages: ['@nestjs', 'rxjs'],
  },
  interceptors: {
    folders: ['calls', 'core', 'clients', 'elections', 'interfaces', '.'],
    packages: ['@nestjs'],
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

const inFolder = (folder) => (folder === '.' ? '^lib/[^/]+$' : `^lib/${folder}/`);
const ofPackage = (name) => `(^|node_modules/)${name}(/|$)`;

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...Object.entries(rooms).map(([room, { folders, packages }]) => ({
      name: `${room}-imports`,
      severity: 'error',
      from: { path: inFolder(room) },
      to: {
        pathNot: [...[room, ...folders].map(inFolder), ...packages.map(ofPackage)],
        dependencyTypesNot: ['core'],
      },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // an import of types is an import
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
