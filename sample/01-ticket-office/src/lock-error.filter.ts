import { Catch, ServiceUnavailableException, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { LockError } from 'nestjs-interlock';

/** A lock that was not granted is no fault of the customer: 503, try again later. */
@Catch(LockError)
export class LockErrorFilter extends BaseExceptionFilter {
  override catch(error: LockError, host: ArgumentsHost): void {
    super.catch(new ServiceUnavailableException(error.message), host);
  }
}
