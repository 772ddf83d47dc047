import { sameBytes } from '#shared/base/constant-time.ts';
import type { IssuerKey } from '#shared/auth/schemes/parts/token-issuer.ts';
import {
  listTokenKeys,
  openTokenKey,
  type TokenKeyLifecycle,
} from '#shared/keys/token-key-lifecycle.ts';
import type { VoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { Verify } from './verification.ts';

export interface VerificationByStore extends Pick<
  TokenKeyLifecycle,
  'stores' | 'master' | 'clock' | 'times'
> {
  readonly voprf: Pick<VoprfThreads, 'evaluate'>;
}

/**
 * Verifies VOPRF tokens of this pair's issuer with its private keys, which both servers can open (RFC 9578 section 5.4:
 * origin and issuer may share keys). A key is opened once for each fetch of the directory. If it was retired before the
 * fetch, none of its tokens is valid.
 */
export function verificationByStore(options: VerificationByStore): Verify {
  const { master, voprf } = options;
  const opened = new WeakMap<IssuerKey, Buffer>();

  async function open({ type, id }: IssuerKey): Promise<Buffer | undefined> {
    const name = id.toString('base64url');
    const listed = await listTokenKeys(options);
    const found = listed.find(({ key }) => key.type === type && key.id === name);
    return found && found.state !== 'retired' ? openTokenKey(master, found.key) : undefined;
  }

  return async ({ input, authenticator }, key, turn) => {
    const privateKey = opened.get(key) ?? (await open(key));
    if (privateKey === undefined) return false;
    opened.set(key, privateKey);
    const expected = await voprf.evaluate(turn, privateKey, input);
    return sameBytes(expected, authenticator);
  };
}
