require('reflect-metadata');

for (const entry of ['health', 'inspector', 'opentelemetry', 'testing', 'core']) {
  require(`nestjs-interlock/${entry}`);
}
