/** Decorates methods as TypeScript would. */
exports.decorate = function decorate({ prototype }, decorators) {
  for (const [method, decorator] of Object.entries(decorators)) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, method);
    Object.defineProperty(
      prototype,
      method,
      decorator(prototype, method, descriptor) ?? descriptor,
    );
  }
};
