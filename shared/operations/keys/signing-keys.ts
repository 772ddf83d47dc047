import * as z from 'zod';
import { type KeyLifecycle, keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import type { House } from '../operation.ts';

/** Which keys an operation is about. */
export const gateway = z
  .boolean()
  .default(false)
  .describe(
    'the keys of the gateway, which signs statements for applications, not those of tokens',
  );

/** The life of the signing keys that the servers use: the authorization server's or the gateway's. */
export const lifeOf = async (house: House, ofGateway: boolean): Promise<KeyLifecycle> =>
  keyLifecycle(ofGateway ? 'gatewayKeys' : 'keys', {
    ...house,
    master: await house.masterSecret(),
  });
