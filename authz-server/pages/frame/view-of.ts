import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Config } from '#shared/config/schema.ts';
import type { Brand } from '#shared/pages/document.ts';
import type { Person } from '#shared/people/directory.ts';
import { createCsrf } from './csrf.ts';
import type { PagesServer } from '../../base/server.ts';
import { languageOf } from '#shared/pages/language.ts';
import type { Frame } from './shell.ts';
import type { View } from './view.ts';

/**
 * Returns the data that every page is rendered with. `person`: the signed-in person; `uiLocales`: the languages of
 * the client's request (OpenID Connect Core 1.0 section 3.1.2.1).
 */
export type ViewOf = (ctx: Context, person?: Person, uiLocales?: unknown) => View;

/** Returns the brand that the operator configured, with the address of the logo on this server. */
export const brandOf = ({ brand }: Pick<Config, 'brand'>): Brand => ({
  ...brand,
  logo: brand.logo && '/logo',
});

/**
 * Returns the data for a page without forms. It sets no cookie: a request from another site comes without our cookies,
 * and a new cookie would invalidate forms that are open.
 */
export function frameOf(
  { config }: Pick<PagesServer, 'config'>,
  { headers }: IncomingMessage,
  uiLocales?: unknown,
): Frame {
  return {
    language: languageOf(
      headers['accept-language'],
      typeof uiLocales === 'string' ? uiLocales : undefined,
    ),
    brand: brandOf(config),
  };
}

export function createViewOf(
  server: Pick<PagesServer, 'config' | 'master' | 'random' | 'clock'>,
): ViewOf {
  const { csrfToken } = createCsrf(server);
  return (ctx, person, uiLocales) => ({
    ...frameOf(server, ctx.req, uiLocales),
    csrf: csrfToken(ctx),
    now: server.clock.now(),
    ...(person && { person: person.name }),
  });
}
