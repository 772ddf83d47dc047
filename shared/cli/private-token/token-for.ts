import type { Token } from '#shared/private-token/token.ts';
import { tokenKeyId } from '#shared/private-token/token-key.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { CLI } from '#shared/base/invocation.ts';
import type { AskedOfIssuer } from './account.ts';
import { keysInUse, type SiteChallenge } from '#shared/auth/schemes/private-token/client.ts';
import { directoryOf, getTokens } from './get-tokens.ts';
import type { Holder } from './issuer-login.ts';
import { keyFor } from './issuer.ts';
import type { Wallet } from './wallet.ts';

export interface Found {
  readonly token: Buffer;
  readonly type: TokenType;
  /** Server name. */
  readonly issuer: string;
  /** The questions to the issuer that found it. */
  readonly asked: AskedOfIssuer;
}

/**
 * Takes a token that answers one of the challenges; it is then stored nowhere else. A token in the wallet with the
 * requested key comes first, since it needs no request to the issuer; then a token with another current key; then a new
 * token. Throws `Failure`.
 */
export async function tokenFor(
  challenges: readonly [SiteChallenge, ...SiteChallenge[]],
  wallet: Wallet,
  holder: Holder,
): Promise<Found> {
  for (const { digest, issuer, tokenKey, type } of challenges) {
    const ids = tokenKey === undefined ? [] : [tokenKeyId(tokenKey)];
    const token = await wallet.take(isFor(digest, ids));
    if (token !== undefined) return { token, type, issuer, asked: { for: 'nothing' } };
  }
  const { clock } = holder.shell;
  const [first] = challenges;
  const { issuer } = first;
  const directory = await directoryOf(issuer, holder.config);
  const itsOwn = challenges.filter((one) => one.issuer === issuer);
  for (const { digest, type } of itsOwn) {
    const ids = keysInUse(directory, type, clock).map(({ id }) => id);
    const token = await wallet.take(isFor(digest, ids));
    if (token !== undefined) return { token, type, issuer, asked: { for: 'keys' } };
  }
  const key = keyFor(first, directory, clock);
  const ended = await wallet.count(({ challengeDigest }) =>
    itsOwn.some(({ digest }) => challengeDigest.equals(digest)),
  );
  if (ended > 0) holder.shell.note(`Kept tokens for this site whose key has ended: ${ended}.`);
  holder.shell.note(
    `No kept token fits, so one is got now. In advance is better: ${CLI} private-token get.`,
  );
  const { tokens, login } = await getTokens(first, directory.requestUrl, key, 1, holder);
  const { type } = key;
  const asked = { for: 'tokens', type, count: 1, login, at: clock.now() } as const;
  return { token: tokens[0], type, issuer, asked };
}

/** RFC 9577 section 2.1.4: all fields of the challenge match, and the key is one of these. */
function isFor(digest: Buffer, ids: readonly Buffer[]): (token: Token) => boolean {
  return ({ challengeDigest, keyId }) =>
    challengeDigest.equals(digest) && ids.some((id) => id.equals(keyId));
}
