// The library within the bundle, as docs/module.md says.
const { IgnorePlugin } = require('webpack');
const externals = require('webpack-node-externals');

module.exports = (options) => ({
  ...options,
  externals: [externals({ allowlist: [/^nestjs-interlock/] })],
  ignoreWarnings: [],
  output: { ...options.output, filename: 'bundled.js' },
  plugins: [
    ...options.plugins,
    new IgnorePlugin({ resourceRegExp: /^(cron|ioredis|redis|zookeeper)$/ }),
  ],
});
