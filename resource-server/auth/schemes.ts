import { hkdfSync } from 'node:crypto';
import { createAttempts } from '#shared/auth/attempts.ts';
import { createNonces } from '#shared/auth/nonces.ts';
import { type OAuthSchemes } from '#shared/auth/oauth-schemes.ts';
import type { Scheme } from '#shared/auth/scheme.ts';
import { apiKey } from '#shared/auth/schemes/api-key/api-key.ts';
import { basic } from '#shared/auth/schemes/basic/basic.ts';
import { digest } from '#shared/auth/schemes/digest/digest.ts';
import { negotiate } from '#shared/auth/schemes/negotiate/negotiate.ts';
import type { OAuthSpace } from '#shared/auth/schemes/oauth.ts';
import type { TokenIssuer } from '#shared/auth/schemes/private-token/issuer.ts';
import { privateToken } from '#shared/auth/schemes/private-token/private-token.ts';
import { scram } from '#shared/auth/schemes/scram/scram.ts';
import { audiencesOf } from '#shared/auth/token-verifier.ts';
import { createVerifiedPasswords } from '#shared/auth/verified-passwords.ts';
import { isProduction } from '#shared/config/production.ts';
import type { ProxyConfig, SpaceConfig } from '#shared/config/schema.ts';
import { localDirectory } from '#shared/people/local.ts';
import { localVerifiers } from '#shared/people/local-verifiers.ts';
import { createPasswords } from '#shared/people/password.ts';
import type { Gss } from '#shared/auth/schemes/negotiate/gss.ts';
import { metadataUrl } from '#shared/server/protected-resource.ts';
import type { Parts } from '#shared/server/process.ts';
import { tokenTypeNamed } from '#shared/private-token/token-types.ts';
import type { ScramHash } from '#shared/stores/people.ts';

type PersonScheme = ProxyConfig['schemes'][number];

/** What a scheme for people is told of the realm that it is made for. */
export interface RealmSite extends Pick<SpaceConfig, 'realm' | 'digest'> {
  /** URLs that the credentials are for; absent at a proxy (RFC 7616 section 3.3). */
  readonly domain?: readonly string[];
}

/** What a scheme is told of the protection space that it is made for. */
export interface SchemeSite
  extends RealmSite, Pick<SpaceConfig, 'url' | 'nonce' | 'apiKey' | 'privateToken'> {
  scopes(method: string): readonly string[];
}

/** Makes the schemes of spaces and of the proxy; what they share, such as limits, is made once. */
export interface SchemeFactories {
  readonly people: Readonly<Record<PersonScheme, (site: RealmSite) => Scheme>>;
  readonly all: Readonly<Record<SpaceConfig['schemes'][number], (site: SchemeSite) => Scheme>>;
}

export interface SchemeParts extends Pick<
  Parts,
  'config' | 'stores' | 'feed' | 'master' | 'clock' | 'random'
> {
  readonly oauth: OAuthSchemes;
  /** Undefined: Negotiate is off. */
  readonly gss: Gss | undefined;
  /** The issuer of that name, one object for each; undefined: this pair's. */
  readonly issuers: (name: string | undefined) => TokenIssuer;
}

export function schemeFactories(parts: SchemeParts): SchemeFactories {
  const { config, stores, feed, master, clock, random, oauth, gss, issuers } = parts;
  const secret = (label: string) => Buffer.from(hkdfSync('sha256', master, '', label, 32));
  const demo = !isProduction(config);
  const { credentials: account, signIn: address } = config.limits;
  const attempts = createAttempts({ limits: stores.limits, account, address });
  const directory = localDirectory({ ...stores, passwords: createPasswords(), demo });
  const verifiers = localVerifiers({ people: stores.people, demo });
  const passwords = createVerifiedPasswords({ directory, feed, clock, random });
  const nonces = createNonces({ secret: secret('digest-nonce'), clock, random });
  const scramSecret = secret('scram');
  const windowSecret = secret('private-token-window');
  const addressSecret = secret('private-token-address');

  const scramWith = (hash: ScramHash) => (site: RealmSite) =>
    scram({
      ...stores,
      hash,
      realm: site.realm,
      verifiers,
      attempts,
      secret: scramSecret,
      clock,
      random,
    });

  const people: SchemeFactories['people'] = {
    Basic: ({ realm }) => basic({ realm, passwords, attempts }),
    Digest: ({ realm, digest: offer, domain }) =>
      digest({
        realm,
        ...offer,
        ...(domain && { domain }),
        verifiers,
        nonces,
        useCounts: stores.useCounts,
        attempts,
        random,
      }),
    Negotiate: ({ realm }) =>
      negotiate({ realm, gss, verifiers, replay: stores.replay, attempts, clock }),
    'SCRAM-SHA-1': scramWith('SHA-1'),
    'SCRAM-SHA-256': scramWith('SHA-256'),
  };

  return {
    people,
    all: {
      ...people,
      Bearer: (site) => oauth.bearer(oauthSpace(site)),
      DPoP: (site) => oauth.dpop({ ...oauthSpace(site), nonce: site.nonce }),
      PrivateToken: ({ url, privateToken: { issuer, types, window, origins } }) =>
        privateToken({
          site: {
            url,
            types: types.map(tokenTypeNamed),
            ...(window !== undefined && { window }),
            origins,
          },
          issuer: issuers(issuer),
          spent: stores.spentTokens,
          limits: stores.limits,
          rate: config.limits.redemptions,
          windowSecret,
          addressSecret,
          memory: () => stores.revocations.epoch(false),
          clock,
        }),
      'API-Key': ({ realm, apiKey: { field, query, limit } }) =>
        apiKey({
          realm,
          field,
          ...(query !== undefined && { query }),
          limit,
          apiKeys: stores.apiKeys,
          limits: stores.limits,
          attempts,
          clock,
          demo,
        }),
    },
  };
}

/** What the schemes of OAuth are told of a space that is a resource of its own (RFC 8707, RFC 9728). */
function oauthSpace({ realm, url, scopes }: SchemeSite): OAuthSpace {
  return { realm, scopes, audiences: audiencesOf(url), metadata: metadataUrl(url) };
}
