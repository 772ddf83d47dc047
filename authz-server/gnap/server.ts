import type { KeyObject } from 'node:crypto';
import type { KeySet } from '#shared/keys/signing-key-ring.ts';
import type { AuthzServer } from '../base/server.ts';

/** The parts that the GNAP endpoints use. */
export interface GnapServer extends AuthzServer {
  /** Drops revoked keys, and resolves to the keys that may sign now. */
  readonly signingKeys: () => Promise<KeySet>;
  /** Returns the public key that verifies our own tokens. */
  readonly publicKey: (kid: string) => Promise<KeyObject | undefined>;
}
