// Finds Nest in this folder, and everything else where it always is.
const { existsSync, readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

const OF_MAJOR_11 =
  /^@nestjs\/(common|core|platform-(express|fastify|ws)|microservices|websockets|cqrs|testing)(\/|$)/;

module.exports = (request, options) => {
  if (!request.startsWith('@nestjs/')) return options.defaultResolver(request, options);
  const file = options.defaultResolver(request, { ...options, basedir: __dirname });
  const version = versionOf(file);
  if (OF_MAJOR_11.test(request) && !version.startsWith('11.')) {
    throw new Error(`${request} is ${version} here, not 11: run \`npm ci --prefix test/nest11\`.`);
  }
  return file;
};

function versionOf(file) {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    const { version } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
    if (version) return version;
  }
}
