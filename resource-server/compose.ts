import { join } from 'node:path';
import { oauthSchemes } from '#shared/auth/oauth-schemes.ts';
import type { OAuthSpace } from '#shared/auth/schemes/oauth.ts';
import { audiencesOf } from '#shared/auth/token-verifier.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import type { Parts, Server } from '#shared/server/process.ts';
import { logged } from '#shared/server/request-log.ts';
import { createApp } from './app.ts';
import { issuedTokens } from './auth/issued-tokens.ts';
import { createJwks } from './auth/jwks.ts';
import { metadataUrl } from './auth/metadata.ts';
import { openContent } from './resources/content.ts';
import { documents, sweepContent } from './resources/documents.ts';
import type { Shelf } from './resources/shelf.ts';
import { createSpaces, type SchemeSite, type Space } from './spaces.ts';

/** Seconds for which a file that no row names is left alone: far longer than an upload may take. */
const LEFTOVER_AGE = 86_400;
/** Seconds between two sweeps. */
const SWEEP_STORE = 60;
const SWEEP_CONTENT = 3600;

/**
 * Puts the resource server together: schemes, spaces, documents, and the application over them.
 * `fetch` gives the JSON behind a URL and rejects within seconds when there is none.
 */
export async function composeResourceServer(
  { config, stores, feed, master, clock, random, log, ready }: Parts,
  fetch: (url: string) => Promise<unknown>,
): Promise<Server> {
  const { url = `${config.issuer}/jwks`, maxAge, cooldown } = config.jwks;
  const jwks = createJwks({ url, fetch, clock, maxAge, cooldown, log });
  const { issuer } = config;
  const tokens = issuedTokens({ issuer, jwks, feed, clock, skew: config.tokens.skew });
  const { bearer, dpop } = oauthSchemes({ tokens, replay: stores.replay, master, clock });
  const spaces = createSpaces(config, {
    Bearer: (site) => bearer(oauthSpace(site)),
    DPoP: (site) => dpop({ ...oauthSpace(site), nonce: site.nonce }),
  });

  const shelves = new Map<Space, Shelf>();
  for (const space of spaces.all.filter(({ serves }) => serves === 'documents')) {
    const key = `/${space.segments.map(encodeURIComponent).join('/')}`;
    const { maxBytes } = config.documents;
    const folder = join(config.data, 'content', encodeURIComponent(key));
    const content = await openContent({ folder, maxBytes, random });
    shelves.set(space, { key, rows: stores.documents, content, maxBytes, clock, random });
  }
  const app = createApp({
    config,
    spaces,
    resources: new Map([...shelves].map(([space, shelf]) => [space, documents(shelf)])),
    ready,
    log,
  });

  return {
    handler: logged(app, { log, clock, random, trusted: trustedProxies(config.trustedProxies) }),
    chores: [
      { name: 'sweep.store', seconds: SWEEP_STORE, run: () => stores.sweep() },
      {
        name: 'sweep.content',
        seconds: SWEEP_CONTENT,
        async run() {
          for (const shelf of shelves.values()) await sweepContent(shelf, LEFTOVER_AGE);
        },
      },
    ],
  };
}

/** What the schemes of OAuth are told of a space that is a resource of its own (RFC 8707, RFC 9728). */
function oauthSpace({ realm, url, scopes }: SchemeSite): OAuthSpace {
  return { realm, scopes, audiences: audiencesOf(url), metadata: metadataUrl(url) };
}
