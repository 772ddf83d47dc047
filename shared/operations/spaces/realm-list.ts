import * as z from 'zod';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { proxyUrl } from '#shared/config/proxy-url.ts';
import type { Config } from '#shared/config/schema.ts';
import type { KeptKind } from '#shared/people/verifier-kind.ts';
import { operation } from '../operation.ts';
import { pageIn, pageInput, pageOf } from '../page.ts';
import { variantsByScheme } from '../people/by-scheme.ts';

const texts = z.array(z.string());

/** A space or the proxy, and the verifiers that are stored for it for each person. */
export interface Realm {
  readonly url: string;
  readonly realm: string;
  readonly schemes: readonly string[];
  readonly algorithms: readonly string[];
  readonly types: readonly string[];
  readonly mutual: readonly string[];
  readonly keeps: readonly KeptKind[];
}

export const listRealms = operation({
  name: 'realm list',
  summary:
    'list the spaces and the proxy: address, schemes, and the verifiers stored for each person',
  effect: 'reads',
  input: z.strictObject(pageInput),
  operands: [],
  output: pageOf(
    z.strictObject({
      url: z.string(),
      realm: z.string(),
      schemes: texts,
      algorithms: texts.describe('the algorithms of Digest'),
      types: texts.describe('the token types of PrivateToken'),
      mutual: texts.describe('the algorithm of Mutual'),
      keeps: z.record(z.string(), texts).describe('for each scheme, the kinds of stored verifiers'),
    }),
  ),
  run: async (page, { config }) => pageIn(realmsOf(config).map(shownRealm), page, ({ url }) => url),
});

/** Returns the spaces in their order, then the proxy. */
export function realmsOf(config: Config): readonly Realm[] {
  const needs = new Map(neededVerifiers(config).map((need) => [need.realm, need]));
  const { spaces, proxy, listen } = config;
  const doors = [...spaces, ...(proxy ? [{ ...proxy, url: proxyUrl(proxy, listen.proxy) }] : [])];
  return doors.map((door) => {
    const { url, realm, digest } = door;
    const schemes: readonly string[] = door.schemes;
    const algorithms = schemes.includes('Digest') ? digest.algorithms : [];
    const offersTokens = 'privateToken' in door && schemes.includes('PrivateToken');
    const types = offersTokens ? door.privateToken.types : [];
    const mutual = schemes.includes('Mutual') ? [door.mutual.algorithm] : [];
    const keeps = needs.get(realm)?.kinds ?? [];
    return { url, realm, schemes, algorithms, types, mutual, keeps };
  });
}

/** A realm as operators see it. */
export const shownRealm = ({ keeps, ...realm }: Realm) => ({
  ...realm,
  keeps: variantsByScheme(keeps),
});
