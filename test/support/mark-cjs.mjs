// Marks dist/cjs as CommonJS for Node, inside a package of ES modules.
import { writeFileSync } from 'node:fs';

writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
