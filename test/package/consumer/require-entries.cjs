require('reflect-metadata');

for (const entry of ['health', 'inspector', 'opentelemetry', 'testing']) {
  require(`nestjs-interlock/${entry}`);
}
