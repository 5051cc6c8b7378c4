import type { INestApplication, ModuleMetadata } from '@nestjs/common';

/** A lock server that dies on demand, and comes back. */
export interface DyingServer {
  /** Boots an app on it; whatever the server does, the app keeps its session and its leases for a minute. */
  boot(metadata: ModuleMetadata): Promise<INestApplication>;
  die(): Promise<void>;
  comeBack(): Promise<void>;
  /** Ends the server and its apps. */
  end(): Promise<void>;
}
