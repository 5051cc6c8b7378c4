import 'reflect-metadata';

for (const entry of ['health', 'inspector', 'opentelemetry', 'testing', 'core']) {
  await import(`nestjs-interlock/${entry}`);
}
