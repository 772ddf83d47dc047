import { expect, test } from '@jest/globals';
import { AuthorizationHeader, type Token, WWWAuthenticateHeader } from '@cloudflare/privacypass-ts';
import { until } from '../parts/process.ts';
import {
  type LibraryType,
  obtain,
  offerAt,
  offersIn,
  redeem,
  TYPES,
} from './private-token/privacypass.ts';
import { startTokenSite, type TokenSite } from './private-token/token-site.ts';

/** The issuer's keys rotate within seconds under @cloudflare/privacypass-ts, without a restart. */
const TIMES = { rotation: 7, overlap: 8, maxAge: 2 };

const encoded = (key: Uint8Array) => Buffer.from(key).toString('base64url');

test.each([
  ['sqlite', 'store'],
  ['postgres', 'issuer'],
] as const)(
  'RFC 9578 section 4: keys rotate on %s, with VOPRF verified by the %s',
  async (kind, verification) => {
    const times = { ...TIMES, verification };
    await using site = await startTokenSite(kind, times);
    await Promise.all(TYPES.map((type) => throughRotation(site, type)));
  },
);

/** Follows one key from the tokens that it issues to the refusal of its last token. */
async function throughRotation(site: TokenSite, type: LibraryType): Promise<void> {
  const url = `${site.flow.pair.resourceTls}/schemes/private-token/`;
  const statusOf = async (token: Token) =>
    (await redeem(url, new AuthorizationHeader(token).toString())).status;
  /** The keys in the directory, without padding, and the first key that issues. */
  const keys = async () => {
    const { 'token-keys': all } = await site.directory();
    const ofType = all.filter((key) => key['token-type'] === type.type);
    const issuing = ofType.find(({ 'not-before': from = 0 }) => from * 1000 <= Date.now());
    const names = ofType.map((key) => key['token-key'].replace(/=+$/, ''));
    return { names, issuing: issuing?.['token-key'] ?? '' };
  };

  const offer = await offerAt(url, type.type);
  const old = encoded(offer.tokenKey);
  const [one, other] = [await obtain(type, offer, site.send), await obtain(type, offer, site.send)];
  await until(async () => !(await keys()).issuing.startsWith(old));

  const { names, issuing } = await keys();
  expect(names).toContain(old);
  expect(await statusOf(one)).toBe(200);
  expect(await statusOf(await obtain(type, offer, site.send))).toBe(200);
  const next = new Uint8Array(Buffer.from(issuing, 'base64url'));
  const early = new WWWAuthenticateHeader(offer.challenge, next);
  expect(await statusOf(await obtain(type, early, site.send))).toBe(200);
  await until(async () => encoded((await offerAt(url, type.type)).tokenKey) !== old);

  await until(async () => !(await keys()).names.includes(old));
  await expect(obtain(type, offer, site.send)).rejects.toThrow('failed with code:422');
  const refusal = await redeem(url, new AuthorizationHeader(other).toString());
  expect(refusal.status).toBe(401);
  const fresh = offersIn(refusal).find(({ challenge }) => challenge.tokenType === type.type);
  if (fresh === undefined) throw new Error('a refusal without a challenge');
  expect(encoded(fresh.tokenKey)).not.toBe(old);
  expect(await statusOf(await obtain(type, fresh, site.send))).toBe(200);
}
