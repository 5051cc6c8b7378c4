import { ForbiddenException, type CanActivate } from '@nestjs/common';

/** Lets nobody in, and says which option would. */
export class RefuseGuard implements CanActivate {
  constructor(private readonly advice: string) {}

  canActivate(): never {
    throw new ForbiddenException(this.advice);
  }
}
