import * as z from 'zod';
import { type KeyLifecycle, keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import type { House } from '../operation.ts';

/** The keys that an operation affects: those of the authorization server or of the gateway. */
export const gateway = z
  .boolean()
  .default(false)
  .describe(
    'the keys with which the gateway signs statements for applications, not the keys of tokens',
  );

/** Returns the life cycle of the signing keys of the authorization server or of the gateway. */
export const lifeOf = async (house: House, ofGateway: boolean): Promise<KeyLifecycle> =>
  keyLifecycle(ofGateway ? 'gatewayKeys' : 'keys', {
    ...house,
    master: await house.masterSecret(),
  });
