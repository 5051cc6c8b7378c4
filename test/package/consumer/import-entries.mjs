import 'reflect-metadata';

for (const entry of ['health', 'inspector', 'opentelemetry', 'testing']) {
  await import(`nestjs-interlock/${entry}`);
}
